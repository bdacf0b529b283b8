"""Ten thousand nodes, and what the driver costs beside bare asyncua."""

import pytest
from oasis_opcua import bench
from oasis_opcua.driver import OpcUaDriver

from oasis.plant import render
from oasis.plant.driver import Budget
from tests.packs.opcua.lines import line_in_thread

pytestmark = pytest.mark.campaign


async def test_ten_thousand_nodes_are_browsed_in_batches_and_shown_in_part():
    with line_in_thread(big=True) as line:
        driver = OpcUaDriver(line.url)
        scan = await driver.scan(["nsu=urn:oasis:packaging-line;s=Areas"], Budget())
        await driver.close()
        assert (len(scan.found), scan.stopped) == (9_999, "")
        assert line.line.witness.requests["browse"] < 400
    text = render.scan(driver.url, scan, 1)
    assert "9,599 lines more" in text
    assert "types and values of the first 400 of 9,900 variables were read" in text


async def test_browsing_and_reading_cost_at_most_a_third_more_than_bare_asyncua():
    for measured in await bench.measured():
        assert measured.ratio <= bench.LIMIT, str(measured)
