"""Functional tests of a balancer: a script builds two balancers and three servers, and keeps what the tools print."""

from loadcurve.lab.functions.functions import (
    DURATION_S,
    FUNCTION_CHECKS,
    FunctionsSection,
    FunctionTest,
    function_test,
    missing,
)

__all__ = ["DURATION_S", "FUNCTION_CHECKS", "FunctionTest", "FunctionsSection", "function_test", "missing"]
