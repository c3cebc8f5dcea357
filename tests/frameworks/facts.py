"""What every client of an agent framework is told (addresses, a document, a prompt), and the checks that all share."""

import asyncio
import dataclasses
import json
import pathlib
import sys

QUESTION = "What is the answer?"
CHANGE = "// changed\n"
DEADLINE_SECONDS = 60


@dataclasses.dataclass
class Facts:
    """The JSON object of the file that is given to each client."""

    server_url: str
    model_url: str
    uri: str  # of the document that has the answer
    path: str  # of the file behind it
    prompt: str
    prompt_arguments: dict[str, str]
    resource_count: int  # of the first page of resources/list, at least
    checked: set[str] = dataclasses.field(default_factory=set)

    def document(self) -> str:
        return pathlib.Path(self.path).read_text(encoding="utf-8")

    def check_listed(self, uris: list[str]) -> None:
        assert self.uri in uris or len(uris) >= self.resource_count, (len(uris), uris[:3])
        self.checked.add("list")

    def check_read(self, texts: list[str]) -> None:
        assert texts == [self.document()], texts
        self.checked.add("read")

    def check_prompt(self, texts: list[str]) -> None:
        assert any(self.prompt_arguments["word"] in text for text in texts), texts
        self.checked.add("prompt")

    def check_answer(self, text: str) -> None:
        """The model answers only after a search and a fetch whose results it could read."""
        assert text == "The answer is 42.", text
        self.checked |= {"search", "fetch"}

    def change_document(self) -> None:
        with pathlib.Path(self.path).open("a", encoding="utf-8") as file:
            file.write(CHANGE)

    async def until_changed(self, read) -> None:
        """Reads until the document is what the file is."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            while await read() != self.document():
                await asyncio.sleep(0.05)
        self.checked.add("update")

    async def until_notified(self, notified: asyncio.Event) -> None:
        async with asyncio.timeout(DEADLINE_SECONDS):
            await notified.wait()
        self.checked.add("update")

    def finish(self, *lacking: str) -> None:
        """Fails unless everything was checked that the framework can do; `lacking` is what it cannot."""
        expected = {"list", "read", "search", "fetch", "prompt", "update"} - set(lacking)
        assert self.checked == expected, (self.checked, expected)
        print("checked: " + ", ".join(sorted(self.checked)) + "".join(f"; no {name}" for name in sorted(lacking)))


def read() -> Facts:
    return Facts(**json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")))
