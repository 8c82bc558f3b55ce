"""How well the laws predict loads that they have not seen, on published curves, against methods without a law."""

from validation.forecasts.baselines import BASELINES
from validation.forecasts.methods import SEEN, forecast_curves, summarise_bands, summarise_forecasts

__all__ = ["BASELINES", "SEEN", "forecast_curves", "summarise_bands", "summarise_forecasts"]
