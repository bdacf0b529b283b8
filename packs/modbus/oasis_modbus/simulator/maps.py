"""The units' maps, as they are in the field: gaps, mixed word orders, a scale that nobody wrote down.

Unit 1 is documented in docs/boiler.csv of the demonstration's project; the others are not documented anywhere, and of
unit 2 the sample site file names only what is written: the rest is for whoever uses the lab to find out.
"""

from oasis_modbus.simulator.cells import Cell

BOILER = (
    Cell("coil", 0, "is_released", is_writable=True, tag="burner", step=1, safe=False),
    Cell("coil", 1, "pump_1", is_writable=True, tag="feed_pump_1"),
    Cell("coil", 2, "pump_2", is_writable=True, tag="feed_pump_2"),
    Cell("discrete", 0, "is_firing", tag="flame"),
    Cell("discrete", 1, "has_low_water", tag="low_water"),
    Cell("discrete", 2, "has_closed_door"),
    Cell("discrete", 8, "is_warning"),
    Cell("discrete", 9, "is_tripped"),
    Cell("holding", 0, "set_point", scale=0.1, is_writable=True, low=20, high=95, tag="set_point", unit="degC",
         step=10),
    Cell("holding", 1, "high_warning", scale=0.1, is_writable=True, low=20, high=95, tag="high_warning", unit="degC"),
    Cell("holding", 2, "high_trip", scale=0.1, tag="high_trip", unit="degC"),
    Cell("holding", 3, "is_automatic", is_writable=True, low=0, high=1, tag="mode"),
    Cell("holding", 10, "hysteresis", "float32", order="CDAB", is_writable=True, low=0.5, high=10, tag="hysteresis",
         unit="K", step=2),
    Cell("holding", 12, "pressure_limit", "float32", order="DCBA", tag="pressure_limit", unit="bar"),
    Cell("holding", 100, "location", "string", length=24, is_writable=True, tag="location"),
    Cell("input", 0, "water", scale=0.1, tag="water", unit="degC"),
    Cell("input", 1, "pressure", scale=0.001, tag="pressure", unit="bar"),
    Cell("input", 2, "flow", "float32", order="CDAB", tag="feed_flow", unit="m3/h"),
    Cell("input", 4, "rpm", tag="feed_pump_speed", unit="rpm"),
    Cell("input", 5, "burner_hours", "uint32", order="CDAB", tag="burner_hours", unit="h"),
    Cell("input", 8, "energy_kwh", "uint32", tag="energy", unit="kWh"),
    Cell("input", 10, "flue_gas", "float32", order="DCBA", tag="flue_gas", unit="degC"),
    Cell("input", 12, "power", scale=0.5),
    Cell("input", 20, "name", "string", length=16),
)  # fmt: skip

PUMPS = (
    Cell("coil", 0, "is_started_1", is_writable=True),
    Cell("coil", 1, "is_started_2", is_writable=True, tag="pump_2_start", step=1,
         is_unattended=True),
    Cell("discrete", 0, "runs_1"),
    Cell("discrete", 1, "runs_2"),
    Cell("discrete", 2, "is_low"),
    Cell("discrete", 3, "is_high"),
    Cell("holding", 0, "speed_1", scale=0.1, is_writable=True, low=0, high=100, tag="pump_1_speed", unit="%",
         step=25),
    Cell("holding", 1, "speed_2", scale=0.1, is_writable=True, low=0, high=100, tag="pump_2_speed", unit="%",
         step=25, is_unattended=True),
    Cell("holding", 20, "high_alarm", "float32", order="CDAB", is_writable=True, low=50, high=98),
    Cell("input", 0, "flow_1", "float32", order="CDAB"),
    Cell("input", 2, "flow_2", "float32", order="CDAB"),
    Cell("input", 4, "level", scale=0.025),
    Cell("input", 5, "suction", "int16", scale=0.01),
    Cell("input", 6, "energy_1", "uint32", scale=0.1),
    Cell("input", 8, "energy_2", "uint32", scale=0.1),
    Cell("input", 12, "motor", "float32", order="DCBA"),
    Cell("input", 40, "volume_m3", "uint32", order="CDAB"),
    Cell("input", 50, "name", "string", length=8),
)  # fmt: skip

NEIGHBOUR = (
    Cell("input", 0, "voltage", "float32"),
    Cell("input", 6, "current", "float32"),
    Cell("input", 70, "frequency", "float32"),
    Cell("input", 100, "name", "string", length=4),
)
