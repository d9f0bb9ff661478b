"""What can go wrong, beyond plain ``ValueError``, and what to be warned of."""


class PrivacyBudgetError(ValueError):
    """No budget was given, for there is no safe default; or a ledger has too little left."""


class PrivacyTuningWarning(UserWarning):
    """Copies of one estimator are fitted again and again, which costs its budget each time."""
