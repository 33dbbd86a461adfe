"""Receives OTLP over HTTP with OpenTelemetry's own messages, and reads Prometheus's text with its own parser.

Prints its port. GET /spans?count=n and /metrics?count=n answer with what came, once n are there; POST /parse parses.
"""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces
from prometheus_client.parser import text_string_to_metric_families

arrived = threading.Condition()
received = {"/v1/traces": [], "/v1/metrics": []}
messages = {"/v1/traces": traces.ExportTraceServiceRequest, "/v1/metrics": metrics.ExportMetricsServiceRequest}


def with_base64(value, key=""):
    """OTLP writes ids in hex, where protobuf's JSON has base64."""
    if isinstance(value, dict):
        return {name: with_base64(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [with_base64(each) for each in value]
    if key in ("traceId", "spanId", "parentSpanId"):
        return base64.b64encode(bytes.fromhex(value)).decode()
    return value


def decode(path, kind, body):
    message = messages[path]()
    if kind == "application/x-protobuf":
        message.ParseFromString(body)
        assert message.SerializeToString() != b""
    else:
        assert kind == "application/json", kind
        json_format.ParseDict(with_base64(json.loads(body)), message, ignore_unknown_fields=False)
    return json_format.MessageToDict(message)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/parse":
            families = text_string_to_metric_families(body.decode())
            parsed = [
                {"name": f.name, "type": f.type, "samples": [[s.name, s.labels, s.value] for s in f.samples]}
                for f in families
            ]
            self.answer(200, json.dumps(parsed).encode())
            return
        kind = self.headers["content-type"]
        content = decode(self.path, kind, body)
        with arrived:
            received[self.path].append({"kind": kind, "key": self.headers["x-key"], "content": content})
            arrived.notify_all()
        self.answer(200, b"{}" if kind == "application/json" else b"", kind)

    def do_GET(self):
        url = urlparse(self.path)
        count = int(parse_qs(url.query)["count"][0])
        exports = received["/v1/traces" if url.path == "/spans" else "/v1/metrics"]

        def is_there():
            if url.path == "/metrics":
                return len(exports) >= count
            scopes = (s for e in exports for r in e["content"]["resourceSpans"] for s in r["scopeSpans"])
            return sum(len(scope["spans"]) for scope in scopes) >= count

        with arrived:
            arrived.wait_for(is_there, timeout=30)
            self.answer(200, json.dumps(exports).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
