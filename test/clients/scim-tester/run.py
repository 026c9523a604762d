"""Runs every check of scim2-tester against a server, and prints what came of each as JSON: URL, token."""

import json
import sys

import httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server

url, token = sys.argv[1:]
client = httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=30, trust_env=False)
results = check_server(SyncSCIMClient(client))
told = [{"status": each.status.name, "title": each.title, "reason": each.reason or ""} for each in results]
json.dump(told, sys.stdout)
