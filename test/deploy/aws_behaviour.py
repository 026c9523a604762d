"""MiniStack with some AWS behaviour that it lacks, as an ASGI application around its own.

- A REST API keeps the path as it was sent: `%2F` inside a segment separates nothing. MiniStack matches the decoded
  path, so requests to an API are given their raw one.
- A REST API renames a function's `WWW-Authenticate`; only the gateway's own responses can carry it.
- Calls to AWS travel over TLS. The buckets' and queues' policies refuse plain HTTP, so calls on this loopback socket
  are marked as having come through a proxy that ended TLS.
- A batch call to SQS needs the right to the single call; MiniStack asks for a right named after the batch, which
  IAM does not know (Service Authorization Reference, Amazon SQS).
- Sending mail needs the right to the sender's identity, and tells policies who the sender is. MiniStack asks for a
  right to everything, and tells nothing.
- An API's OpenAPI document may name a path's method for all methods, an authorizer that wants no header, and the
  gateway's own answers. MiniStack leaves out the first and the last, and makes up a header.
- An alarm may be about an expression over metrics. MiniStack knows alarms about one, and stores them without effect: it is
  given the first metric of the expression.
- A resource of a REST API has one variable child at most, and an API 300 resources. MiniStack takes any number of both.
"""

import json
from base64 import b64decode
from email import message_from_bytes
from email.utils import parseaddr

from ministack import app as application
from ministack.app import app as ministack
from ministack.core import iam_actions
from ministack.services import apigateway_v1 as rest_apis
from ministack.services.cloudformation import provisioners

EXECUTE_API = b"/_aws/execute-api/"

action_named_by_request = iam_actions.extract_iam_action


def extract_iam_action(*request):
    action = action_named_by_request(*request)
    return action.removesuffix("Batch") if action is not None and action.startswith("sqs:") else action


# Looked up in its module at each request.
iam_actions.extract_iam_action = extract_iam_action

resource_named_by_request = iam_actions.extract_resource_arn
enforce = application._enforce_data_plane
SENDING = "/v2/email/outbound-emails"


def sender_of(body):
    raw = b64decode(json.loads(body)["Content"]["Raw"]["Data"])
    return parseaddr(message_from_bytes(raw)["From"])[1]


def extract_resource_arn(service, method, path, headers, body, query, region, account):
    if service == "ses" and path == SENDING:
        return f"arn:aws:ses:{region}:{account}:identity/{sender_of(body)}"
    return resource_named_by_request(service, method, path, headers, body, query, region, account)


def enforce_of_sender(service, action, *rest, resource_arn="*", **more):
    if action == "ses:SendEmail":
        more["service_context"] = {"ses:fromaddress": resource_arn.split("/", 1)[-1]}
    return enforce(service, action, *rest, resource_arn=resource_arn, **more)


context_of_tags = iam_actions.request_tag_context


def context_of_request(service, action, body, params):
    context = context_of_tags(service, action, body, params)
    if action != "ssm:PutParameter":
        return context
    return {**context, "ssm:Overwrite": "true" if json.loads(body).get("Overwrite") else "false"}


iam_actions.request_tag_context = context_of_request
iam_actions.extract_resource_arn = extract_resource_arn
application._enforce_data_plane = enforce_of_sender

ANY = "x-amazon-apigateway-any-method"
RESPONSES = "x-amazon-apigateway-gateway-responses"

import_rest_api = rest_apis._import_rest_api
import_operation = rest_apis._import_operation


record_of_alarm = provisioners._cw_metric_alarm_record


def record_of_expression(name, props):
    metrics = [each["MetricStat"] for each in props.get("Metrics") or [] if "MetricStat" in each]
    if metrics:
        first = {**metrics[0]["Metric"], "Period": metrics[0]["Period"], "Statistic": metrics[0]["Stat"]}
        props = {**props, **first, "Metrics": None}
    return record_of_alarm(name, props)


# Looked up in its module for each alarm.
provisioners._cw_metric_alarm_record = record_of_expression

RESOURCES = 300


def require_accepted(paths):
    children = {}
    for path in paths:
        parts = [part for part in path.split("/") if part]
        for depth, part in enumerate(parts):
            children.setdefault(tuple(parts[:depth]), set()).add(part)
    for among in children.values():
        first, *others = sorted(part for part in among if part.startswith("{")) or [None]
        if others:
            raise ValueError(f"A sibling ({first}) of this resource already has a variable path part -- only one is allowed")
    if 1 + sum(len(among) for among in children.values()) > RESOURCES:
        raise ValueError("Maximum number of Resources for this API has been reached")


def imported(document, *rest):
    require_accepted(document.get("paths", {}))
    api = import_rest_api(document, *rest)
    for kind, response in document.get(RESPONSES, {}).items():
        status, _, body = rest_apis._put_gateway_response(api, kind, response)
        if status >= 400:
            raise ValueError(body)
    return api


def imported_operation(api, resource, method, *rest):
    import_operation(api, resource, "ANY" if method == ANY.upper() else method, *rest)


rest_apis._OPENAPI_HTTP_METHODS.add(ANY)
rest_apis._import_operation = imported_operation
rest_apis._import_rest_api = imported
rest_apis._import_identity_source = lambda _, extension: extension.get("identitySource") or ""


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
