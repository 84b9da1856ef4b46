"""When ``gwtui check`` warns: a table of a profile.

A model of pydantic, which takes a quarter of a start to load: this module is loaded where a profile
has such a table, or where a command needs it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Amount = Annotated[Decimal, Field(allow_inf_nan=False)]
Percent = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[Decimal, Field(gt=0, allow_inf_nan=False)]

_FALLING = ("credits", "runway", "uptime", "expiry")
"""Figures that get worse as they fall."""
_RISING = ("keys",)


class CheckThresholds(BaseModel):
    """Limits from which a figure is a warning, or critical; None is never."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True
    )

    credits_warning: Amount | None = Field(
        None, description="warning if the balance in USD is below this"
    )
    credits_critical: Amount | None = Field(
        None, description="critical if the balance in USD is below this"
    )
    runway_warning: Positive | None = Field(
        None, description="warning if the credits last fewer days"
    )
    runway_critical: Positive | None = Field(
        None, description="critical if the credits last fewer days"
    )
    models: tuple[str, ...] = Field((), description="check the endpoints of this model")
    watched: bool = Field(False, description="check the models that the dashboard watches")
    uptime_warning: Percent | None = Field(
        None, description="warning if fewer percent of requests succeed"
    )
    uptime_critical: Percent | None = Field(
        None, description="critical if fewer percent of requests succeed"
    )
    uptime_window: Literal["5m", "30m", "1d"] = Field(
        "30m", description="time window of the uptime"
    )
    uptime_of: Literal["worst", "best"] = Field(
        "worst", description="which endpoint of a model counts"
    )
    keys_warning: Percent | None = Field(
        None, description="warning if at least this percentage of a key's limit is used"
    )
    keys_critical: Percent | None = Field(
        None, description="critical if at least this percentage of a key's limit is used"
    )
    expiry_warning: Positive | None = Field(
        None, description="warning if a key expires within this many days"
    )
    expiry_critical: Positive | None = Field(
        None, description="critical if a key expires within this many days"
    )
    rules: bool = Field(False, description="also check runway and keys against the alert rules")
    alerts: bool = Field(
        False, description="also report the alerts of the dashboard on this machine"
    )
    timeout: Annotated[float, Field(gt=0, le=3600)] = Field(
        10.0, description="time limit in seconds"
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for name in (*_FALLING, *_RISING):
            warning, critical = getattr(self, f"{name}_warning"), getattr(self, f"{name}_critical")
            if warning is None or critical is None:
                continue
            if (warning < critical) if name in _FALLING else (warning > critical):
                raise ValueError(f"{name}: the warning must come before what is critical")
        return self
