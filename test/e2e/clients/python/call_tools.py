"""Calls tools with a real Python client and prints what that client makes of the answers, as JSON.

Arguments: the client (fastmcp or mcp) and where the server is: a URL, or a command with its arguments.
On standard input: a list of [tool, arguments]. On standard output: for each, what the client gives its user.
"""

import asyncio
import dataclasses
import json
import os
import sys


def plain(value):
    """As JSON, with the name of the type where it is an object of a class."""
    if dataclasses.is_dataclass(value):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"(class)": type(value).__name__, **fields}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value


async def with_fastmcp(place, calls):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    is_url = place[0].startswith("http")
    transport = place[0] if is_url else StdioTransport(place[0], place[1:], env=dict(os.environ))
    async with Client(transport) as client:
        for tool, arguments in calls:
            answer = await client.call_tool(tool, arguments, raise_on_error=False)
            yield answer, plain(answer.data)


async def with_mcp(place, calls):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(command=place[0], args=place[1:], env=dict(os.environ))
    async with stdio_client(parameters) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await session.list_tools()
            for tool, arguments in calls:
                # The client checks the answer against the tool's output schema.
                yield await session.call_tool(tool, arguments), None


async def main():
    client, *place = sys.argv[1:]
    calls = json.load(sys.stdin)
    answers = []
    async for answer, data in (with_fastmcp if client == "fastmcp" else with_mcp)(place, calls):
        answers.append(
            {
                "data": data,
                "texts": [block.text for block in answer.content],
                "structured": answer.structured_content,
                "failed": bool(answer.is_error),
            }
        )
    print(json.dumps(answers))


asyncio.run(main())
