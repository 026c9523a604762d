import { expect, test } from 'vitest';
import { apiDocument } from '../../lib/api/all.ts';
import type { JsonSchema } from '../../lib/http/field-facts.ts';

/** The verbs that summaries start with. Prefer one of them to a new one. */
const VERBS: ReadonlySet<string> = new Set(
  `Activate Add Apply Approve Archive Ban Block Cancel Check Cherry-pick Clone Comment Compare Count Create Deactivate Delete Deny
  Download Follow Fork Generate Get Import Invite List Merge Move Promote Protect Provision Reject Remove Reorder Replace Request Restore Revert
  Revoke Rotate Search Set Share Star Start Stop Subscribe Transfer Unarchive Unban Unblock Unfollow Unprotect Unstar Unsubscribe Update
  Upload`.split(/\s+/),
);
const MAX_SUMMARY = 80;

/** Words that need decoding: say what the endpoint does, in the terms of the API. */
const UNCLEAR =
  /\b(?:whoever|whomever|somebody|anew|meanwhile|outermost|let(?:s|ting)? (?:in|go)|taken in|yours to (?:see|know)|(?:is|are|was|were|be) told|none of theirs|goes before)\b/i;

const document = apiDocument();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

test('summaries start with a verb, are short and have no full stop', () => {
  const problems = operations.flatMap(({ name, operation: { summary } }) => {
    const hasForm =
      VERBS.has(summary.split(' ')[0]!) && summary.length <= MAX_SUMMARY && !/\.(?:\s|$)/.test(summary);
    return hasForm ? [] : [`${name}: ${summary}`];
  });
  expect(problems).toEqual([]);
});

test('every parameter, and every field of a request body, has a description', () => {
  const problems = operations.flatMap(({ name, operation }) => {
    const parameters = operation.parameters.flatMap(({ name: parameter, description, schema }) =>
      undescribed({ ...schema, ...(description === undefined ? {} : { description }) }, parameter),
    );
    const bodies = Object.values(operation.requestBody?.content ?? {});
    const fields = new Set([
      ...parameters,
      ...bodies.flatMap(({ schema }) => undescribedFields(schema, 'body')),
    ]);
    return [...fields].map((field) => `${name}: ${field}`);
  });
  expect(problems).toEqual([]);
});

test('operations are described in plain words', () => {
  const problems = operations.flatMap(({ name, operation }) =>
    textsOf(operation).flatMap((text) => (UNCLEAR.test(text) ? [`${name}: ${text}`] : [])),
  );
  expect(problems).toEqual([]);
});

test('shared schemas are described in plain words', () => {
  expect(textsOf(document.components).filter((text) => UNCLEAR.test(text))).toEqual([]);
});

/** The names of a schema and of its fields that have no description. */
function undescribed(schema: JsonSchema, name: string): string[] {
  return [...(schema.description?.trim() ? [] : [name]), ...undescribedFields(schema, name)];
}

function undescribedFields(schema: JsonSchema, name: string): string[] {
  const fields = { ...schema.properties, ...schema.items?.properties };
  return Object.entries(fields).flatMap(([key, field]) => undescribed(field, `${name}.${key}`));
}

/** All summaries and descriptions in a part of the document; a field named `description` is an object. */
function textsOf(part: object): string[] {
  return Object.entries(part).flatMap(([key, value]) => {
    if (typeof value === 'object' && value !== null) return textsOf(value);
    return (key === 'summary' || key === 'description') && typeof value === 'string' ? [value] : [];
  });
}
