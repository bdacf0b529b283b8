from collections.abc import AsyncIterator

import pytest

from oasis.config import Settings
from oasis.core.prefix import Prefix
from oasis.engine.embedded import EmbeddedEngine
from oasis.errors import ConfigError
from oasis.measure.fit import FULL, fitted
from oasis.measure.job import Job, load
from oasis.models.base import Lane
from oasis.models.connect import connect
from oasis.models.tokens import TokenModel
from oasis.resources import shipped

pytestmark = pytest.mark.engine
PREFIX = Prefix("Be brief.", ())


@pytest.fixture
async def model(dense_engine: EmbeddedEngine) -> AsyncIterator[TokenModel]:
    connection = await connect(Settings(server=dense_engine.url), Lane.TOKENS)
    assert isinstance(connection.model, TokenModel)
    yield connection.model
    await connection.close()


@pytest.fixture(scope="module")
def job() -> Job:
    return load(shipped("fixtures/jobs/depth.jsonl"))


async def test_a_job_is_cut_to_the_context_and_says_how(model: TokenModel, job: Job):
    cut = await fitted(job, model, model.client, PREFIX, "model.gguf")
    tokens = len(await model.client.tokenize(cut.text(), False))
    assert tokens < FULL * (model.context_tokens or 0) < len(await model.client.tokenize(job.text(), False))
    assert cut.shortened.startswith("tool outputs are cut to 1/")


async def test_a_job_that_fits_no_way_is_an_error_that_says_what_to_do(model: TokenModel, job: Job):
    model.context_tokens = 4096
    with pytest.raises(ConfigError, match=r"context of 4,096 tokens.*--steps 12"):
        await fitted(job, model, model.client, PREFIX, "model.gguf")
