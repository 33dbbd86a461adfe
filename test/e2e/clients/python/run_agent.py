"""An agent of LangChain with the tools of an MCP server at a URL.

Its model is a script: on stdin, a list of the tool calls that it makes, one a turn. On stdout, the last line is what each
call gave the model, as JSON: {"status", "text"}.
"""

import asyncio
import json
import sys

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_mcp_adapters.client import MultiServerMCPClient


class ScriptedModel(BaseChatModel):
    calls: list
    turns: int = 0

    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        message = AIMessage(content="I am done.")
        if self.turns < len(self.calls):
            name, arguments = self.calls[self.turns]
            message = AIMessage(content="", tool_calls=[{"name": name, "args": arguments, "id": str(self.turns)}])
        self.turns += 1
        return ChatResult(generations=[ChatGeneration(message=message)])


async def main():
    client = MultiServerMCPClient({"carrel": {"transport": "streamable_http", "url": sys.argv[1]}})
    agent = create_agent(ScriptedModel(calls=json.load(sys.stdin)), await client.get_tools())
    messages = (await agent.ainvoke({"messages": [("user", "Go on.")]}))["messages"]
    answers = [message for message in messages if isinstance(message, ToolMessage)]
    print(json.dumps([{"status": answer.status, "text": answer.text} for answer in answers]))


asyncio.run(main())
