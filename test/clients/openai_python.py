"""The openai package for Python against a running `onsight serve` with the bundled model:
    pip install openai==3.57.0 && python3 openai_python.py http://127.0.0.1:8321
"""

import base64
import json
import pathlib
import struct
import sys
from typing import Annotated, Literal

import openai
import pydantic

cases = pathlib.Path(__file__).parent.parent / "golden" / "tiny-cases"
case = json.loads((cases / "cases.jsonl").read_text(encoding="utf-8").split("\n", 1)[0])
picture = base64.b64encode((cases / case["picture"]).read_bytes()).decode()
first, second = case["turns"][:2]
question = {
    "role": "user",
    "content": [
        {"type": "text", "text": first["ask"]},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}},
    ],
}
base = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8321"
client = openai.OpenAI(base_url=f"{base}/v1", api_key="none", max_retries=0)

assert [model.id for model in client.models.list()] == ["tiny"]

whole = client.chat.completions.create(model="tiny", messages=[question])
assert whole.choices[0].message.content == first["says"], whole
assert whole.choices[0].finish_reason == "stop"

follow_up = [question, {"role": "assistant", "content": first["says"]}, {"role": "user", "content": second["ask"]}]
stream = client.chat.completions.create(
    model="tiny", messages=follow_up, stream=True, stream_options={"include_usage": True}
)
chunks = list(stream)
assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == second["says"]
assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
cached = chunks[-1].usage.prompt_tokens_details.cached_tokens
assert cached > 0

response = client.responses.create(
    model="tiny",
    input=[
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": first["ask"]},
                {"type": "input_image", "image_url": f"data:image/png;base64,{picture}", "detail": "auto"},
            ],
        }
    ],
)
assert response.output_text == first["says"], response

try:
    client.chat.completions.create(model="tiny", messages=[question], n=2)
    raise AssertionError("n=2 was accepted")
except openai.BadRequestError as error:
    assert (error.code, error.param) == ("unsupported_parameter", "n"), error

class Thing(pydantic.BaseModel):
    name: Annotated[str, pydantic.Field(max_length=20)]
    count: Annotated[int, pydantic.Field(ge=0, le=9)]
    colour: Literal["red", "green"] | None


parsed = client.chat.completions.parse(model="tiny", messages=[question], response_format=Thing)
assert isinstance(parsed.choices[0].message.parsed, Thing), parsed
streamed = client.responses.parse(model="tiny", input=first["ask"], text_format=Thing)
assert isinstance(streamed.output_parsed, Thing), streamed

scored = client.chat.completions.create(model="tiny", messages=[question], logprobs=True, top_logprobs=2)
tokens = scored.choices[0].logprobs.content
assert b"".join(bytes(token.bytes) for token in tokens).decode().strip() == first["says"]

vectors = [
    client.embeddings.create(model="tiny", input=["A cat.", "A dog."], encoding_format=encoding).data[1].embedding
    for encoding in ("float", "base64")
]
decoded = struct.unpack(f"<{len(vectors[0])}f", base64.b64decode(vectors[1]))
assert vectors[0] == list(decoded), "base64 is not what float is"
assert client.embeddings.create(model="tiny", input="A dog.").data[0].embedding == vectors[0]

with client.chat.completions.create(model="tiny", messages=[question], stream=True) as leaving:
    next(iter(leaving))
assert client.chat.completions.create(model="tiny", messages=[question]).choices[0].message.content == first["says"]

print(f"openai {openai.__version__}: answer, stream with reuse ({cached} tokens known), response, error, structure, scores, embeddings, leaving")
