"""Does a task from its start to its result, and one from its start to its cancellation, with the official client.

    python do_tasks.py <url> <token>

The client knows no tasks by itself: an extension claims their results, as its documentation has it.
"""

import asyncio
import json
import sys
from typing import Any, Literal

import httpx2 as httpx
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.extension import ClientExtension, ResultClaim
from pydantic import TypeAdapter


class StartedTask(types.Result):
    result_type: Literal["task"] = "task"
    task_id: str
    status: str


class TaskRequest(types.Request[dict[str, Any], str]):
    name_param = "taskId"


class TaskState(types.Result):
    model_config = {"extra": "allow"}


seen: list[Any] = []


async def send(session: Any, method: str, task_id: str) -> Any:
    request = TaskRequest(method=method, params={"taskId": task_id})
    return await session.send_request(request, TaskState)


class Tasks(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self, cancels: bool) -> None:
        self.cancels = cancels

    def claims(self) -> list[Any]:
        return [ResultClaim(result_type="task", model=StartedTask, resolve=self.resolve)]

    async def resolve(self, started: StartedTask, context: Any) -> types.CallToolResult:
        seen.append(started.status)
        if self.cancels:
            await send(context.session, "tasks/cancel", started.task_id)
        while True:
            task = (await send(context.session, "tasks/get", started.task_id)).model_dump(by_alias=True)
            if task["status"] != "working":
                seen.append(task["status"])
                result = task.get("result") or {"content": [], "isError": True}
                return TypeAdapter(types.CallToolResult).validate_python(result)
            await asyncio.sleep(0.05)


async def main(url: str, token: str) -> None:
    for cancels, delay in ((False, 300), (True, 60_000)):
        http = httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"})
        place = streamable_http_client(url, http_client=http)
        async with Client(place, mode="2026-07-28", extensions=[Tasks(cancels)]) as client:
            result = await client.call_tool("dig", {"marker": "clay", "delay_ms": delay})
            seen.append(result.structured_content)
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
