"""MiniStack with four of AWS's manners that it lacks, as an ASGI application around its own.

- A REST API keeps the path as it was sent: `%2F` inside a segment separates nothing. MiniStack matches the decoded
  path, so requests to an API are given their raw one.
- A REST API renames a function's `WWW-Authenticate`; only the gateway's own responses can carry it.
- Calls to AWS travel over TLS. The buckets' and queues' policies refuse plain HTTP, so calls on this loopback socket
  are marked as having come through a proxy that ended TLS.
- A batch call to SQS needs the right to the single call; MiniStack asks for a right named after the batch, which
  IAM does not know (Service Authorization Reference, Amazon SQS).
"""

from ministack.app import app as ministack
from ministack.core import iam_actions

EXECUTE_API = b"/_aws/execute-api/"

action_named_by_request = iam_actions.extract_iam_action


def extract_iam_action(*request):
    action = action_named_by_request(*request)
    return action.removesuffix("Batch") if action is not None and action.startswith("sqs:") else action


# Looked up in its module at each request.
iam_actions.extract_iam_action = extract_iam_action


async def app(scope, receive, send):
    if scope["type"] != "http":
        await ministack(scope, receive, send)
        return
    raw_path = (scope.get("raw_path") or b"").split(b"?")[0]
    if raw_path.startswith(EXECUTE_API):
        scope = {**scope, "path": raw_path.decode("latin-1")}
        await ministack(scope, receive, renaming(send))
    else:
        scope = {**scope, "headers": [*scope["headers"], (b"x-forwarded-proto", b"https")]}
        await ministack(scope, receive, send)


def renaming(send):
    async def renamed(message):
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            # The gateway marks its own errors with their type; what lacks it came from a function.
            if not any(name.lower() == b"x-amzn-errortype" for name, _ in headers):
                message = {**message, "headers": [(remapped(name), value) for name, value in headers]}
        await send(message)

    return renamed


def remapped(name):
    return b"x-amzn-Remapped-WWW-Authenticate" if name.lower() == b"www-authenticate" else name
