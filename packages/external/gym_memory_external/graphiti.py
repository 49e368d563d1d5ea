"""Graphiti (graphiti-core 0.31): a temporal graph that a model extracts, in the Kuzu database."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import json
import os
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, ClassVar

from gym_memory.core.optional import require
from gym_memory.llm.base import Message
from gym_memory.memory.encoders import Encoder
from gym_memory_external.model import ExtractionMemory, Model, next_id

__all__ = ["Graphiti"]

_GROUP = "episode"
_BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
_SIZES = {"max_db_size": 1 << 30, "buffer_pool_size": 1 << 28}
"""Most bytes of a database: Kuzu would reserve 8 TiB, more than a worker may."""


class Graphiti(ExtractionMemory):
    """Graphiti: every step is an episode, of which a model extracts things and their relations.

    The package is the authors', with an embedded Kuzu database, without its telemetry. A step of
    the game is a minute of its time. Facts that were invalidated are not shown. The model is ours;
    with ``llm`` None the plain reader answers the prompts, and invalidates nothing. The search is
    the package's hybrid one, but without its least similarity of .6, which its own encoder needs.
    """

    name: ClassVar[str] = "graphiti"

    def _open(self) -> _Client:
        return _Client(self.model, self._encoder)


class _Client:
    def __init__(self, model: Model, encoder: Encoder):
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        os.environ["EMBEDDING_DIM"] = str(encoder.dim)
        core = require("graphiti_core", "graphiti", "the memory graphiti")
        kuzu = require("graphiti_core.driver.kuzu_driver", "graphiti")
        llm, embedder, ranker = (
            require(f"graphiti_core.{part}.client", "graphiti")
            for part in ("llm_client", "embedder", "cross_encoder")
        )

        class Llm(llm.LLMClient):  # type: ignore[name-defined]
            async def _generate_response(
                self, messages: Any, response_model: Any = None, *given: Any, **named: Any
            ) -> Any:
                turns: list[Message] = [{"role": m.role, "content": m.content} for m in messages]
                return json.loads(model(turns, response_model))

        class Embedder(embedder.EmbedderClient):  # type: ignore[name-defined]
            async def create(self, input_data: Any) -> list[float]:
                text = input_data if isinstance(input_data, str) else str(next(iter(input_data)))
                return encoder.encode([text])[0].tolist()

            async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
                return [vector.tolist() for vector in encoder.encode(input_data_list)]

        class Ranker(ranker.CrossEncoderClient):  # type: ignore[name-defined]
            async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
                return [(passage, 0.0) for passage in passages]  # our searches do not rank by it

        self._thread = ThreadPoolExecutor(1)
        driver = self._run(self._driver(kuzu))
        self._graph = core.Graphiti(
            graph_driver=driver, llm_client=Llm(None), embedder=Embedder(), cross_encoder=Ranker(),
            max_coroutines=1,
        )  # fmt: skip
        for module in ("nodes", "edges"):  # ids in order of creation, which break ties
            require(f"graphiti_core.{module}", "graphiti").uuid4 = next_id
        recipes = require("graphiti_core.search.search_config_recipes", "graphiti")
        self._config = recipes.EDGE_HYBRID_SEARCH_RRF
        self._text = require("graphiti_core.nodes", "graphiti").EpisodeType.text
        self._number = 0

    async def _driver(self, kuzu: Any) -> Any:
        database = require("kuzu", "graphiti")
        sized = functools.partial(database.Database, **_SIZES)
        kuzu.kuzu = SimpleNamespace(**{**vars(database), "Database": sized})
        driver = kuzu.KuzuDriver(db=":memory:")
        # One thread, so that equal scores come in the same order every time.
        driver.client = database.AsyncConnection(
            driver.db, max_concurrent_queries=1, max_threads_per_query=1
        )
        driver._database = _GROUP  # missing in 0.31; without it no episode can be added
        queries = require("graphiti_core.graph_queries", "graphiti")
        for query in queries.get_fulltext_indices(driver.provider):
            await driver.execute_query(query)
        return driver

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run in a thread of its own, which has no running loop; count the calls of models."""
        return self._thread.submit(contextvars.copy_context().run, asyncio.run, work).result()

    def add(self, text: str) -> None:
        self._number += 1
        self._run(
            self._graph.add_episode(
                *(f"step {self._number}", text, "a text game"),
                _BEGIN + timedelta(minutes=self._number),
                source=self._text,
                group_id=_GROUP,
            )
        )

    def search(self, query: str, k: int) -> list[str]:
        config = self._config.model_copy(deep=True)
        config.limit, config.edge_config.sim_min_score = k, 0.0
        found = self._run(self._graph.search_(query, config=config, group_ids=[_GROUP]))
        return [edge.fact for edge in found.edges if edge.invalid_at is None]
