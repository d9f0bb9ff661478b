"""What can go wrong, beyond plain ``ValueError``."""


class PrivacyBudgetError(ValueError):
    """No budget was given: there is no safe default for how much privacy to give up."""
