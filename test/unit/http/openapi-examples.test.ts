import { describe, expect, test } from 'vitest';
import { exampleBody, withExamples } from '../../../lib/http/openapi-examples.ts';

describe('an example body', () => {
  const field = { type: 'string' } as const;
  test.each([
    ['has the required fields', { properties: { a: field, b: field }, required: ['b'] }, { b: 'string' }],
    [
      'else the first simple one',
      { properties: { a: { type: 'object' }, b: field, c: field } },
      { b: 'string' },
    ],
    [
      'takes the default, else the first value',
      {
        properties: { a: { type: 'string', enum: ['x', 'y'] }, b: { type: 'integer', default: 7 } },
        required: ['a', 'b'],
      },
      { a: 'x', b: 7 },
    ],
    ['keeps to the smallest number', { properties: { a: { type: 'integer', minimum: 5 } } }, { a: 5 }],
    [
      'goes into lists and objects',
      {
        properties: {
          actions: {
            type: 'array',
            items: { type: 'object', properties: { branch: field }, required: ['branch'] },
          },
        },
        required: ['actions'],
      },
      { actions: [{ branch: 'main' }] },
    ],
    [
      'is none for a file',
      { properties: { a: { type: 'string', format: 'binary' } }, required: ['a'] },
      undefined,
    ],
    ['is none without fields', { type: 'object' }, undefined],
  ])('%s', (_, schema, expected) => expect(exampleBody(schema)).toEqual(expected));
});

test('texts have examples by format, then by name, at any depth, and where they can be null', () => {
  const schema = {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        created_at: { type: 'string', format: 'date-time' },
        last_activity_on: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
        web_url: { type: ['string', 'null'] },
        ref: { type: 'string', enum: ['a'] },
        id: { type: 'integer' },
        commit: { type: 'object', properties: { parent_sha: { type: 'string' } } },
      },
    },
  };
  expect(withExamples(schema).items!.properties).toMatchObject({
    created_at: { examples: ['2026-01-02T03:04:05.000Z'] },
    last_activity_on: { examples: ['2026-01-02'] },
    web_url: { examples: ['https://git.example.com/group/project'] },
    ref: { enum: ['a'] },
    commit: { properties: { parent_sha: { examples: [expect.stringMatching(/^[0-9a-f]{40}$/)] } } },
  });
  const { ref, id } = withExamples(schema).items!.properties!;
  expect([ref, id]).toEqual([{ type: 'string', enum: ['a'] }, { type: 'integer' }]);
});
