"""Downloads permissively licensed packages from PyPI and npm, walking their dependencies from a list of seeds.

python3 fetch_packages.py pypi FOLDER COUNT | npm FOLDER COUNT

Keeps FOLDER/<name>.tar.gz (or .tgz) and writes FOLDER/sources.jsonl with name, version and licence of each.
"""

import concurrent.futures
import json
import re
import sys
import urllib.parse
import urllib.request
from pathlib import Path

SEEDS = {
    "pypi": """django flask requests numpy scipy pandas scikit-learn matplotlib sympy networkx sqlalchemy celery pytest sphinx
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
        trio anyio curio gevent eventlet kombu billiard dramatiq huey rq apscheduler schedule watchdog psutil""".split(),
    "npm": """express react vue @angular/core svelte lodash webpack vite rollup babel-loader @babel/core typescript eslint prettier jest
        mocha chai sinon cypress playwright puppeteer axios got node-fetch undici fastify koa hapi @hapi/hapi nestjs @nestjs/core
        next nuxt gatsby remix astro eleventy @11ty/eleventy ember-cli backbone jquery d3 chart.js three babylonjs leaflet mapbox-gl
        openlayers phaser pixi.js socket.io ws mqtt redis ioredis mongoose mongodb pg mysql2 sequelize knex prisma typeorm
        drizzle-orm sqlite3 better-sqlite3 level pouchdb rxdb graphql apollo-server @apollo/client relay-runtime redux mobx zustand
        rxjs xstate ramda immutable moment luxon dayjs date-fns winston pino bunyan debug commander yargs inquirer ora chalk
        electron cordova react-native expo ionic @ionic/core capacitor @capacitor/core nodemailer passport jsonwebtoken bcrypt helmet
        cors multer sharp jimp ffmpeg fluent-ffmpeg pdfkit pdf-lib xlsx exceljs papaparse cheerio jsdom marked markdown-it remark
        unified handlebars ejs pug nunjucks liquidjs tailwindcss bootstrap postcss sass less styled-components @emotion/react
        @mui/material antd storybook lerna nx turbo pnpm yarn npm node-gyp semver pm2 nodemon dotenv ajv zod joi yup class-validator
        i18next react-intl formik react-hook-form react-router swr @tanstack/react-query framer-motion gsap animejs video.js howler
        tone hls.js simple-peer peerjs webtorrent ipfs libp2p web3 ethers hardhat truffle ganache discord.js telegraf botkit
        serverless aws-sdk @aws-sdk/client-s3 firebase firebase-admin @google-cloud/storage twilio stripe hexo ghost strapi keystone
        verdaccio browserify gulp grunt parcel esbuild swc @swc/core metro snowpack standard xo stylelint commitlint husky lint-staged
        bull bullmq agenda node-cron p-queue async bluebird natural compromise wink-nlp nlp.js node-nlp brain.js @tensorflow/tfjs
        ml5 synaptic johnny-five node-red homebridge zigbee2mqtt matterbridge homey magicmirror etherpad-lite tiddlywiki
        uptime-kuma wiki.js codemirror monaco-editor quill prosemirror-view slate tiptap @tiptap/core draft-js lexical ckeditor5""".split(),
}
PERMISSIVE = re.compile(r"\b(MIT|BSD|Apache|ISC|0BSD|CC0|Unlicense|PSF|Python Software Foundation)\b", re.I)
REFUSED = re.compile(r"GPL|AGPL|LGPL|MPL|EPL|NonCommercial|-NC|Proprietary|UNLICENSED|SSPL|BUSL|Commons Clause", re.I)


def get(url, timeout=60):
    with urllib.request.urlopen(urllib.request.Request(url, headers={"user-agent": "carrel-training"}), timeout=timeout) as reply:
        return reply.read()


def allowed(licence):
    return bool(PERMISSIVE.search(licence)) and not REFUSED.search(licence)


def file_address(url):
    """Some mirrors give addresses relative to their own tree."""
    return url if url.startswith("http") else "https://files.pythonhosted.org/packages/" + url.split("packages/packages/")[-1]


def from_pypi(name, folder):
    found = json.loads(get(f"https://pypi.org/pypi/{name}/json"))
    info = found["info"]
    classifiers = " ".join(each for each in info.get("classifiers") or [] if each.startswith("License"))
    licence = " ".join(filter(None, [info.get("license_expression"), classifiers, (info.get("license") or "")[:60]]))
    needs = [re.split(r"[\s;\[(<>=!~]", need)[0] for need in info.get("requires_dist") or []]
    source = next((each for each in found["urls"] if each["packagetype"] == "sdist" and each["size"] < 25_000_000), None)
    if source is None:
        source = next((each for each in found["urls"] if each["filename"].endswith("none-any.whl") and each["size"] < 6_000_000), None)
    if source is None or not allowed(licence):
        return None, needs
    (folder / f"{name}{'.whl' if source['filename'].endswith('.whl') else '.tar.gz'}").write_bytes(get(file_address(source["url"])))
    return {"registry": "pypi", "name": name, "version": info["version"], "licence": licence[:100]}, needs


def from_npm(name, folder):
    found = json.loads(get(f"https://registry.npmjs.org/{urllib.parse.quote(name, safe='@')}/latest"))
    licence = found.get("license") or ""
    licence = licence if isinstance(licence, str) else json.dumps(licence)
    needs = list(found.get("dependencies") or {}) + list(found.get("devDependencies") or {})[:25]
    size = (found.get("dist") or {}).get("unpackedSize") or 0
    if not allowed(licence) or size > 12_000_000:
        return None, needs
    (folder / f"{name.replace('/', '__')}.tgz").write_bytes(get(found["dist"]["tarball"]))
    return {"registry": "npm", "name": name, "version": found["version"], "licence": licence[:100]}, needs


def main():
    registry, folder, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    take = from_pypi if registry == "pypi" else from_npm
    queue, seen, kept = list(SEEDS[registry]), set(), 0
    with concurrent.futures.ThreadPoolExecutor(16) as pool, open(folder / "sources.jsonl", "w") as sources:
        while queue and kept < count:
            batch = [name for name in dict.fromkeys(queue[:96]) if name.lower() not in seen]
            queue = queue[96:]
            seen.update(name.lower() for name in batch)
            for future in [pool.submit(take, name, folder) for name in batch]:
                try:
                    source, needs = future.result()
                except Exception:
                    continue
                queue.extend(need for need in needs if need and need.lower() not in seen)
                if source:
                    kept += 1
                    sources.write(json.dumps(source) + "\n")
            print(registry, "kept", kept, "seen", len(seen), "queued", len(queue), flush=True)


main()
