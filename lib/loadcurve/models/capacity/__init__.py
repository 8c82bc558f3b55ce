"""From curves to decisions: where the knee is, what an objective allows, what limits, what another unit brings."""
