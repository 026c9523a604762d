"""Invokes a Lambda function as `aws lambda invoke` does: name and payload are the arguments, the answer goes to stdout.

A signed call without a Lambda client of our own or an AWS CLI on the machine: botocore is there with the emulator.
"""

import sys

import botocore.session

name, payload = sys.argv[1:]
client = botocore.session.get_session().create_client("lambda")
answer = client.invoke(FunctionName=name, Payload=payload.encode())
sys.stdout.write(answer["Payload"].read().decode())
sys.exit(1 if "FunctionError" in answer else 0)
