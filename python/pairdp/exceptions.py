"""What can go wrong, beyond plain ``ValueError``, and what to be warned of."""


class PrivacyBudgetError(ValueError):
    """No budget was given, for there is no safe default; or a ledger has too little left."""


class PrivacyPlanWarning(UserWarning):
    """Public facts alone speak against a fit: noise that will drown the signal, or an ε or a δ that promises little."""


class PrivacyScoreWarning(UserWarning):
    """An exact measure of the table that a private model was fitted on, which its guarantee does not cover."""


class PrivacyTuningWarning(UserWarning):
    """Copies of one estimator are fitted again and again, which costs its budget each time."""
