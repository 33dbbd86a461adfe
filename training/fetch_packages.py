"""Downloads permissively licensed packages from PyPI, walking their dependencies from a list of seeds.

python3 fetch_packages.py FOLDER COUNT

Writes FOLDER/<name>.tar.gz (or .whl), and FOLDER/sources.jsonl with the name, version and licence of each.
"""

import concurrent.futures
import json
import re
import sys
import urllib.request
from pathlib import Path

SEEDS = """django flask requests numpy scipy pandas scikit-learn matplotlib sympy networkx sqlalchemy celery pytest sphinx
        tornado aiohttp fastapi pydantic httpx boto3 botocore ansible-core salt scrapy beautifulsoup4 lxml pillow nltk spacy gensim
        transformers datasets torchvision keras jax flax statsmodels xarray dask distributed bokeh altair plotly seaborn jupyterlab
        notebook ipython ipykernel nbconvert twisted pyramid wagtail djangorestframework django-allauth django-filter airflow
        apache-airflow luigi prefect dagster mlflow wandb ray optuna hypothesis tox poetry pip setuptools virtualenv black mypy
        pylint flake8 jinja2 mako click typer rich textual paramiko fabric cryptography pyjwt oauthlib requests-oauthlib google-api-python-client
        google-cloud-storage google-auth azure-core azure-storage-blob kubernetes docker redis pymongo elasticsearch opensearch-py psycopg
        asyncpg peewee tortoise-orm alembic marshmallow attrs arrow pendulum python-dateutil feedparser markdown mistune docutils babel
        pygments openpyxl xlsxwriter python-docx python-pptx pypdf pdfminer.six reportlab weasyprint moviepy imageio scikit-image
        opencv-python librosa mido music21 pygame pyglet kivy arcade astropy sunpy biopython rdflib obspy metpy geopandas shapely
        pyproj folium rasterio cartopy qiskit cirq pennylane pymc arviz emcee lmfit simpy deap gymnasium stable-baselines3 langchain
        langchain-core llama-index-core openai anthropic sentence-transformers tokenizers haystack-ai chromadb streamlit gradio dash panel
        buildbot conan mkdocs mkdocs-material pelican nikola lektor zulip mailman beets homeassistant esptool platformio mitmproxy
        scapy impacket volatility3 angr capstone unicorn-engine numba cython nltk textblob pattern allennlp flair stanza parlai
        rasa snips-nlu chatterbot chatterbot-corpus convokit deeppavlov botbuilder-core opsdroid errbot discord.py slack-sdk
        python-telegram-bot praw tweepy instagrapi youtube-dl yt-dlp internetarchive wikipedia mwclient pywikibot sopel
        moto localstack pytest-django factory-boy faker locust selenium playwright robotframework behave invoke nox pre-commit
        sentry-sdk newrelic ddtrace opentelemetry-sdk prometheus-client structlog loguru gunicorn uvicorn hypercorn waitress
        channels daphne graphene strawberry-graphql ariadne zeep suds spyne pyramid bottle falcon sanic quart starlette litestar
        trio anyio curio gevent eventlet kombu billiard dramatiq huey rq apscheduler schedule watchdog psutil""".split()
PERMISSIVE = re.compile(r"\b(MIT|BSD|Apache|ISC|0BSD|CC0|Unlicense|PSF|Python Software Foundation)\b", re.I)
REFUSED = re.compile(r"GPL|AGPL|LGPL|MPL|EPL|NonCommercial|-NC|Proprietary|UNLICENSED|SSPL|BUSL|Commons Clause", re.I)


def get(url, timeout=60):
    with urllib.request.urlopen(urllib.request.Request(url, headers={"user-agent": "carrel-training"}), timeout=timeout) as response:
        return response.read()


def is_allowed(licence):
    return bool(PERMISSIVE.search(licence)) and not REFUSED.search(licence)


def file_address(url):
    """Returns an absolute address, because some mirrors return relative ones."""
    return url if url.startswith("http") else "https://files.pythonhosted.org/packages/" + url.split("packages/packages/")[-1]


def fetch(name, folder):
    metadata = json.loads(get(f"https://pypi.org/pypi/{name}/json"))
    info = metadata["info"]
    classifiers = " ".join(each for each in info.get("classifiers") or [] if each.startswith("License"))
    licence = " ".join(filter(None, [info.get("license_expression"), classifiers, (info.get("license") or "")[:60]]))
    dependencies = [re.split(r"[\s;\[(<>=!~]", dependency)[0] for dependency in info.get("requires_dist") or []]
    source = next((each for each in metadata["urls"] if each["packagetype"] == "sdist" and each["size"] < 25_000_000), None)
    if source is None:
        source = next((each for each in metadata["urls"] if each["filename"].endswith("none-any.whl") and each["size"] < 6_000_000), None)
    if source is None or not is_allowed(licence):
        return None, dependencies
    (folder / f"{name}{'.whl' if source['filename'].endswith('.whl') else '.tar.gz'}").write_bytes(get(file_address(source["url"])))
    return {"name": name, "version": info["version"], "licence": licence[:100]}, dependencies


def main():
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    queue, seen, fetched = list(SEEDS), set(), 0
    with concurrent.futures.ThreadPoolExecutor(16) as pool, open(folder / "sources.jsonl", "w") as sources:
        while queue and fetched < count:
            batch = [name for name in dict.fromkeys(queue[:96]) if name.lower() not in seen]
            queue = queue[96:]
            seen.update(name.lower() for name in batch)
            for future in [pool.submit(fetch, name, folder) for name in batch]:
                try:
                    source, dependencies = future.result()
                except Exception:
                    continue
                queue.extend(dependency for dependency in dependencies if dependency and dependency.lower() not in seen)
                if source:
                    fetched += 1
                    sources.write(json.dumps(source) + "\n")
            print("fetched", fetched, "seen", len(seen), "queued", len(queue), flush=True)


main()
