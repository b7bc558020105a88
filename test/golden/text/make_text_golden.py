"""Trains tiny tokenizers with the published splitting rules and writes what the reference libraries do with many texts.

    pip install tokenizers==0.23.3 sentencepiece==0.2.3 transformers==5.18.0 jinja2==3.1.6
    python make_text_golden.py            # from this folder; writes *.json beside itself

tokenizer-<rule>.json: a `tokenizer.json` as published models of that kind have it. sentence-piece-gguf.json: the
vocabulary of the SentencePiece model as GGUF stores it. tokenizer-vectors.json: per tokenizer, a list of
[text, ids, ids with special tokens, text of the ids with special tokens, text without].
splitting-vectors.json: per pre-tokenizer, texts and their pieces.
chat-vectors.json: per template, its text and what Transformers renders for conversations.
"""
import io, json, os, random
import sentencepiece as spm
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = os.path.dirname(os.path.abspath(__file__)); GOLDEN = os.path.dirname(HERE)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

TEXTS = [
    "", " ", "  ", "\n", "\n\n", "a", "Hello, who are you? 12 cats, 3 dogs.", "图里有几只猫？请用中文回答。", "今天天气很好，我们去公园吧！2024年12月31日",
    "Don't you're I'VE we'll SHE'D it'S 'tis I'\u017f", "I'\u017fay don'\u017f\u017f", "x = [i**2 for i in range(10)]  # squares\n\treturn x != y && z\r\n\r\n", "    four spaces\n        eight\n\ttab\t\ttabs",
    "1234567890 12 345 6,789.01 ２０２４ ٣٤٥ x²³ ½¾ ⅧⅨ 三百", "café cafe\u0301 naïve Ångström A\u030angstro\u0308m ﬁne ｆｕｌｌ", "👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇨🇳🇩🇪 e\u0301\u0302", "日本語とかな カタカナ 한국어 العربية עברית हिन्दी ไทย",
    "a\u00a0b\u3000c\u2003d\u200be\ufefff\u0085g\u2028h\u180ei", "trailing spaces   ", "   leading", "mixed 中文and英文 mixed混合text", "<|im_start|>User: hi<end_of_utterance>\nAssistant:", "<image><image>\n<image> x <image>",
    "<ima<image>ge> <|im_ start|> <|endoftext|", "<|endoftext|><|endoftext|>", "text<|im_end|>text", "http://example.com/a?b=c&d=%20e#f", "ALLCAPS CamelCase snake_case kebab-case", "!!!???...,,,;;;", "\r", "\r\n", "a\r\nb\rc\n\n\n\nd", " \n \n ", "\t\n \t",
    "\U0001F600\U0001F601", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠀁", "\x00\x01\x1f\x7f", "▁under ▁▁ score", "Ġspace Ċ", "<0x0A> <0xE4>", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "the the the  the   the", "word" * 60, "User:<row_1_col_1>x<global-img>", "<think>\nwell</think> done",
    "<pad_left>  x  <pad_left>y", "under<word>score <word> <word>", "tool <tool_call> Ａ<TOOL>",
]

def fuzz(count):
    r = random.Random(5); parts = ["a", "the", " ", "  ", "\n", "\t", "'s", "'S", "1", "23", "456", "²", "½", "中", "文字", "é", "e\u0301", "👍", "🏽", "\u200d", "<image>", "<|im_end|>", "<", ">", "|", "_", "-", ".", "!", "\r\n", "\u00a0", "\u3000", "\ufeff", "\u0085", "É", "ß", "한", "ع", "▁", "\U00020000", "<think>", "\u0338"]
    return ["".join(r.choice(parts) for _ in range(r.randint(1, 14))) for _ in range(count)]

def corpus(): return (TEXTS + fuzz(100)) * 3 + ["the quick brown fox jumps over the lazy dog", "I can see a picture of two cats", "右下角有一只猫和一条狗"] * 20

def byte_level(rule, specials, ignore_merges=False, nfc=False, bos=None):
    t = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if nfc: t.normalizer = normalizers.NFC()
    t.pre_tokenizer = rule
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=900, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, max_token_length=24))
    t.add_tokens([AddedToken(s, special=True, normalized=False) for s in specials])
    t.add_tokens([AddedToken("<think>", normalized=False), AddedToken("</think>", normalized=False)])
    t.decoder = decoders.ByteLevel()
    if bos: t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(single=f"{bos} $A", pair=f"{bos} $A {bos} $B:1", special_tokens=[(bos, t.token_to_id(bos))])])
    return t

def split(*patterns): return pre_tokenizers.Sequence([*(pre_tokenizers.Split(Regex(p), "isolated") for p in patterns), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])

def sentence_piece():
    out = io.BytesIO()
    spm.SentencePieceTrainer.train(sentence_iterator=iter([s.replace("\n", " ").replace("\x00", "") for s in corpus() if s.strip()]), model_writer=out, model_type="bpe", vocab_size=900, byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=True, split_digits=True, allow_whitespace_only_pieces=True, character_coverage=0.98, minloglevel=2)
    p = spm.SentencePieceProcessor(model_proto=out.getvalue()); n = p.get_piece_size()
    pieces = [p.id_to_piece(i) for i in range(n)]; scores = [p.get_score(i) for i in range(n)]
    kind = [2 if p.is_unknown(i) else 3 if p.is_control(i) else 6 if p.is_byte(i) else 1 for i in range(n)]
    vocab = {s: i for i, s in enumerate(pieces)}; merges = []
    for i, s in enumerate(pieces):  # as Transformers converts SentencePiece: every way to join two tokens, best score first
        if kind[i] != 1: continue
        local = [(s[:k], s[k:]) for k in range(1, len(s)) if s[:k] in vocab and s[k:] in vocab]
        merges += [(scores[i], m) for m in sorted(local, key=lambda m: (vocab[m[0]], vocab[m[1]]))]
    merges = [m for _, m in sorted(merges, key=lambda x: -x[0])]
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B:1", special_tokens=[("<s>", 1)])
    t.add_tokens([AddedToken(s, special=True, normalized=False) for s in ("<unk>", "<s>", "</s>", "<image>")])
    gguf = {"tokens": pieces + ["<image>"], "scores": scores + [-1000.0], "token_type": kind + [3]}
    for s in TEXTS + fuzz(100):  # two independent implementations agree where no added token is involved
        if s and not any(a in s for a in ("<image>", "\x00")): assert t.encode(s, add_special_tokens=False).ids == p.encode(s), s
    return t, gguf

def added():
    """Added tokens with every matching option, on a Metaspace splitter that prefixes only the first section."""
    t, _ = sentence_piece(); t.normalizer = None; t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("|", "$&")])
    t.add_tokens([AddedToken("<pad_left>", special=True, lstrip=True, rstrip=True, normalized=False), AddedToken("<word>", single_word=True, normalized=False), AddedToken("A<TOOL>", normalized=True)])
    return t

def vectors(t, texts):
    rows = []
    for s in texts:
        ids = t.encode(s, add_special_tokens=False).ids
        rows.append([s, ids, t.encode(s).ids, t.decode(ids, skip_special_tokens=False), t.decode(ids)])
    return rows

def tokenizers_part():
    llama, chat = ["<|begin_of_text|>", "<|eot_id|>", "<image>"], ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<image>"]
    spm_t, spm_gguf = sentence_piece()
    made = {
        "llama-bpe": byte_level(split(WORDS % r"\p{N}{1,3}"), llama, ignore_merges=True, bos="<|begin_of_text|>"),
        "qwen2": byte_level(split(WORDS % r"\p{N}"), chat, nfc=True),
        "gpt-2": byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>"]),
        "smollm": byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]), chat + ["<end_of_utterance>"]),
        "sentence-piece": spm_t, "added": added(),
    }
    out = {}
    for name, t in made.items():
        open(f"{HERE}/tokenizer-{name}.json", "w").write(t.to_str(pretty=False)); out[name] = vectors(t, TEXTS + fuzz(100))
    out["golden"] = vectors(Tokenizer.from_file(f"{GOLDEN}/smolvlm/tokenizer.json"), TEXTS + fuzz(100))
    json.dump(spm_gguf, open(f"{HERE}/sentence-piece-gguf.json", "w"), ensure_ascii=False)
    json.dump(out, open(f"{HERE}/tokenizer-vectors.json", "w"), ensure_ascii=False)

def splitting_part():
    p = pre_tokenizers; R = Regex
    steps = [p.Split(R(WORDS % r"\p{N}{1,3}"), "isolated"), p.Split(R(r"\p{N}"), "isolated", invert=True), p.Split(R(r"\s+"), "removed"), p.Split(R(r"\p{L}+"), "removed", invert=True), p.Split("a", "isolated"), p.Digits(individual_digits=True), p.Digits(individual_digits=False),
        p.ByteLevel(add_prefix_space=False), p.ByteLevel(add_prefix_space=True), p.ByteLevel(add_prefix_space=True, use_regex=False), p.Metaspace(), p.Metaspace(prepend_scheme="first", split=False), p.Metaspace(prepend_scheme="never"), p.Metaspace(replacement="_", prepend_scheme="always"), p.Sequence([p.Digits(True), p.ByteLevel(add_prefix_space=False)])]
    rows = []
    for step in steps:
        t = Tokenizer(models.BPE()); t.pre_tokenizer = step
        rows.append([json.loads(t.to_str())["pre_tokenizer"], [[s, [piece for piece, _ in step.pre_tokenize_str(s)]] for s in TEXTS if s]])
    json.dump(rows, open(f"{HERE}/splitting-vectors.json", "w"), ensure_ascii=False)

# Written from the published behaviour of each family; they use the same language features as the published texts.
LLAMA3 = """{{- bos_token }}{%- if not date_string is defined %}{%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}{%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] | trim %}{%- set messages = messages[1:] %}{%- else %}{%- set system_message = "" %}{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- "Cutting Knowledge Date: December 2023\\nToday Date: " + date_string + "\\n\\n" + system_message + "<|eot_id|>" }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""
SMOLLM2 = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nYou are SmolLM.<|im_end|>\\n' }}{% endif %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
QWEN25 = """{%- if tools %}
    {{- raise_exception("no tools here") }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nYou are Qwen.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
QWEN3 = """{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and (loop.last or reasoning_content) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""
GEMMA = "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model\\n'}}{% endif %}"
MACRO = """{%- macro show(parts) -%}
    {%- for part in parts | selectattr('type', 'equalto', 'image') -%}[IMG {{ loop.index }}]{%- endfor -%}
    {%- for part in parts | selectattr('type', 'equalto', 'text') -%}{{ part['text'] | tojson }}{{ ', ' if not loop.last }}{%- endfor -%}
{%- endmacro -%}
{% for message in messages if message.role != 'system' -%}
{{ message.role.upper() }}: {{ show(message.content) }}{% generation %}{{ '' }}{% endgeneration %}
{% endfor %}
{{ eos_token if not add_generation_prompt else 'GO' }}"""

T, I = lambda s: {"type": "text", "text": s}, {"type": "image"}
CHATS = {
    "one text": [("user", [T("What do you see?")])],
    "image first": [("user", [I, T("Describe this.")])],
    "image last": [("user", [T("What is it? "), I])],
    "two images": [("user", [I, T("and"), I, T("differ how?")])],
    "chinese": [("user", [I, T("图里有什么？\n请用中文回答。")])],
    "system": [("system", [T("Be brief.")]), ("user", [I, T("What is it?")])],
    "turns": [("user", [I, T("What is it?")]), ("assistant", [T("A cat.")]), ("user", [T("  Which colour?\n")])],
    "system and turns": [("system", [T("你是助手。")]), ("user", [T("你好")]), ("assistant", [T("<think>\nhm\n</think>\n\n你好！")]), ("user", [T('Say "it\'s <b>"')]), ("assistant", [T("ok")]), ("user", [T("bye")])],
    "ends with assistant": [("user", [T("hi")]), ("assistant", [T("hello")])],
}

def flatten(parts): return "".join("<image>\n" for p in parts if p["type"] == "image") + "\n".join(p["text"] for p in parts if p["type"] == "text")

def merged(chat):
    """The system turn in front of the first user text, for templates that refuse it."""
    if chat[0][0] != "system": return chat
    (_, system), (role, parts), *rest = chat; k = next(i for i, p in enumerate(parts) if p["type"] == "text")
    return [(role, [T(system[0]["text"] + "\n\n" + p["text"]) if i == k else p for i, p in enumerate(parts)]), *rest]

def chat_part():
    from transformers.utils.chat_template_utils import render_jinja_template
    golden = lambda d: json.load(open(f"{GOLDEN}/{d}/chat_template.json"))["chat_template"]
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    templates = [("smolvlm", golden("smolvlm"), "parts", {}), ("llava", golden("llava"), "parts", {}), ("smollm2", SMOLLM2, "text", {}), ("llama3", LLAMA3, "text", {"date_string": "01 Feb 2026"}), ("qwen2.5", QWEN25, "text", {}), ("qwen3", QWEN3, "text", {}), ("qwen3 without thinking", QWEN3, "text", {"enable_thinking": False}), ("gemma", GEMMA, "text", {}), ("macro", MACRO, "parts", {})]
    out = []
    for name, source, form, variables in templates:
        system = name not in ("gemma", "macro"); cases = []
        for title, chat in CHATS.items():
            turns = chat if system else merged(chat)
            plain = [{"role": r, "content": c if form == "parts" else flatten(c)} for r, c in turns]
            for go in (True, False):
                [text], _ = render_jinja_template(conversations=[plain], chat_template=source, add_generation_prompt=go, **tokens, **variables)
                cases.append({"title": title, "messages": [{"role": r, "content": c} for r, c in chat], "addGenerationPrompt": go, "text": text})
        out.append({"name": name, "source": source, "contentForm": form, "supportsSystem": system, "variables": variables, "cases": cases})
    json.dump(out, open(f"{HERE}/chat-vectors.json", "w"), ensure_ascii=False)

if __name__ == "__main__":
    tokenizers_part(); splitting_part(); chat_part()
