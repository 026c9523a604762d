import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { administrator, anyone, project, signedIn } from '../../../lib/http/access.ts';
import { endpoint } from '../../../lib/http/endpoint.ts';
import { document } from '../../../lib/http/openapi.ts';
import {
  array,
  boolean,
  datetime,
  file,
  hash,
  integer,
  list,
  object,
  oneOf,
  params,
  string,
} from '../../../lib/http/params.ts';
import { type ContractParameter, compareWithContract } from '../../contract.ts';

const user = z.object({ id: z.int(), username: z.string() }).meta({ id: 'User' });
const note = z.object({ id: z.int(), body: z.string().nullable(), author: user }).meta({ id: 'Note' });

const endpoints = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/notes/:note_id',
    area: 'notes',
    summary: 'List notes',
    description: 'All of them.',
    access: project('read_project', { anonymous: true }),
    params: () => params({ note_id: integer({ required: true, description: 'Id of the note' }) }),
    query: () =>
      params({
        sort: oneOf(['asc', 'desc'], { default: 'desc', description: 'Direction' }),
        iids: list(integer()),
        not: object({ labels: string() }),
        since: datetime(),
        ref: string({ required: true }),
      }),
    paginate: 'offset+keyset',
    keyset: { marker: 'page_token' },
    returns: { body: () => z.array(note), description: 'Notes', headers: ['X-Lemnos-Ref'] },
    errors: [{ status: 404, description: 'No such note' }],
    handle: () => ({ items: [] }),
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/notes',
    area: 'notes',
    summary: 'Create a note',
    access: project('push_code'),
    body: () =>
      params({
        body: string({ required: true }),
        due: datetime({ nullable: true }),
        settings: hash(),
        actions: array(
          object({ action: oneOf(['create'], { required: true }), force: boolean({ default: false }) }),
        ),
      }),
    returns: { body: () => note },
    handle: () => null,
  }),
  endpoint({
    method: 'POST',
    path: '/upload/*path',
    area: 'files',
    summary: 'Upload',
    access: administrator(),
    body: () => params({ file: file({ required: true }) }),
    handle: () => null,
  }),
  endpoint({
    method: 'DELETE',
    path: '/user',
    area: 'users',
    summary: 'Leave',
    access: signedIn(),
    returns: { status: 204 },
    handle: () => null,
  }),
  endpoint({
    method: 'GET',
    path: '/open',
    area: 'meta',
    summary: 'Open',
    access: anyone(),
    handle: () => null,
  }),
];
const made = document(endpoints, { title: 'Lemnos', version: '1', serverUrl: 'https://git.example/prod' });

describe('the OpenAPI document', () => {
  const get = made.paths['/projects/{id}/notes/{note_id}']!['get']!;
  const post = made.paths['/projects/{id}/notes']!['post']!;

  test('is plain JSON whose references all resolve', () => {
    const text = JSON.stringify(made);
    expect(JSON.parse(text)).toEqual(made);
    for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      expect(made.components.schemas).toHaveProperty(name!);
    }
    expect(text).not.toContain('$defs');
    expect(made.servers).toEqual([{ url: 'https://git.example/prod/api/v4' }]);
    expect(made.tags.map(({ name }) => name)).toEqual(['files', 'meta', 'notes', 'users']);
  });

  test('declares every path parameter, and unique operation ids', () => {
    const ids: string[] = [];
    for (const [path, methods] of Object.entries(made.paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const operation of Object.values(methods)) {
        ids.push(operation.operationId);
        const declared = operation.parameters.filter((one) => one.in === 'path');
        expect(declared.map(({ name }) => name)).toEqual(names);
        expect(declared.every(({ required }) => required)).toBe(true);
      }
    }
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('describes what parameters accept', () => {
    expect(get.parameters.find(({ name }) => name === 'note_id')).toEqual({
      name: 'note_id',
      in: 'path',
      required: true,
      description: 'Id of the note',
      schema: { type: 'integer' },
    });
    const query = Object.fromEntries(get.parameters.filter((p) => p.in === 'query').map((p) => [p.name, p]));
    expect(Object.keys(query).sort()).toEqual(
      ['iids[]', 'not', 'page', 'page_token', 'pagination', 'per_page', 'ref', 'since', 'sort'].sort(),
    );
    expect(query['sort']).toMatchObject({
      description: 'Direction',
      schema: { enum: ['asc', 'desc'], default: 'desc' },
      required: false,
    });
    expect(query['iids[]']).toMatchObject({
      schema: { type: 'array', items: { type: 'integer' } },
      style: 'form',
      explode: true,
    });
    expect(query['not']).toMatchObject({
      style: 'deepObject',
      schema: { properties: { labels: { type: 'string' } } },
    });
    expect(query['ref']!.required).toBe(true);
    expect(query['per_page']!.schema.default).toBe(20);
  });

  test('describes bodies in every accepted content type', () => {
    const content = post.requestBody!.content;
    expect(Object.keys(content)).toEqual([
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
    ]);
    expect(content['application/json']!.schema).toEqual({
      type: 'object',
      properties: {
        body: { type: 'string' },
        due: { type: ['string', 'null'], format: 'date-time' },
        settings: { type: 'object', additionalProperties: true },
        actions: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              action: { type: 'string', enum: ['create'] },
              force: { type: 'boolean', default: false },
            },
            required: ['action'],
          },
        },
      },
      required: ['body'],
    });
    expect(Object.keys(made.paths['/upload/{path}']!['post']!.requestBody!.content)).toEqual([
      'multipart/form-data',
    ]);
  });

  test('has examples of bodies and of fields with well-known names', () => {
    const { content } = post.requestBody!;
    expect(content['application/json']!.example).toEqual({ body: 'string' });
    expect(content['multipart/form-data']).not.toHaveProperty('example');
    expect(
      made.paths['/upload/{path}']!['post']!.requestBody!.content['multipart/form-data'],
    ).not.toHaveProperty('example');
    expect(made.components.schemas['User']!.properties).toMatchObject({
      username: { type: 'string', examples: ['ann'] },
    });
    expect(made.components.schemas['Note']!.properties!['body']).not.toHaveProperty('examples');
  });

  test('describes responses and errors', () => {
    expect(Object.keys(get.responses)).toEqual([...['200', '400', '401', '403', '404', '405', '429', '503']]);
    // A rule, and a path that is not one, answer 404 in different words.
    expect(get.responses['404']!.content!['application/json']!.schema).toEqual({
      anyOf: [{ $ref: '#/components/schemas/Message' }, { $ref: '#/components/schemas/Error' }],
    });
    expect(Object.keys(get.responses['429']!.content!)).toEqual(['application/json', 'text/plain']);
    expect(Object.keys(post.responses)).toContain('413');
    expect(get.responses['200']!.content!['application/json']!.schema).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/Note' },
    });
    expect(Object.keys(get.responses['200']!.headers!)).toEqual(
      expect.arrayContaining(['Link', 'X-Next-Page', 'X-Lemnos-Ref']),
    );
    expect(get.responses['404']!.description).toContain('No such note');
    expect(post.responses['201']!.content!['application/json']!.schema).toEqual({
      $ref: '#/components/schemas/Note',
    });
    expect(made.components.schemas['Note']).toMatchObject({
      properties: { author: { $ref: '#/components/schemas/User' } },
    });
    expect(made.paths['/user']!['delete']!.responses['204']).toEqual({ description: 'Done' });
  });

  test('describes the required authentication', () => {
    expect(get.security).toContainEqual({});
    expect(get.security).toContainEqual({ token: ['read_api'] });
    expect(post.security).toContainEqual({ bearer: ['api'] });
    expect(post.security).not.toContainEqual({});
    expect(post.security).not.toContainEqual({ token: ['read_api'] });
  });
});

describe('comparison with a contract', () => {
  const parameter = (name: string, type: ContractParameter['type'], more: Partial<ContractParameter> = {}) =>
    ({ name, in: 'query', type, typeStated: true, required: false, enum: null, ...more }) as const;
  const contract = (method: string, path: string, params: ContractParameter[]) => ({
    id: 'x',
    area: 'x',
    method,
    path,
    params,
  });

  test('reports nothing where they agree', () => {
    const agreed = [
      contract('GET', '/projects/:project_id/notes/:id', [
        parameter('id', 'string', { in: 'path' }),
        parameter('sort', 'enum', { enum: ['asc', 'desc'] }),
        parameter('iids[]', 'array'),
        parameter('not[labels]', 'string'),
        parameter('since', 'datetime'),
        parameter('ref', 'string', { required: true }),
        parameter('per_page', 'integer'),
      ]),
      contract('HEAD', '/open', []),
      contract('POST', '/projects/:id/notes', [
        parameter('actions[]', 'array', { in: 'body' }),
        parameter('actions[][action]', 'enum', { in: 'body', required: true, enum: ['create'] }),
        parameter('due', 'datetime', { in: 'body' }),
        parameter('settings', 'hash', { in: 'body' }),
        parameter('settings[key]', 'string', { in: 'body' }),
      ]),
      contract('POST', '/upload/:path', [parameter('file', 'file', { in: 'body', required: true })]),
    ];
    const { missing, missingParameters, mistyped, beyond } = compareWithContract(made, agreed);
    expect({ missing, missingParameters, mistyped }).toEqual({
      missing: [],
      missingParameters: [],
      mistyped: [],
    });
    expect(beyond).toEqual(['DELETE /user', 'GET /open']);
  });

  test('reports what is missing or different', () => {
    const found = compareWithContract(made, [
      contract('PATCH', '/open', []),
      contract('GET', '/projects/:id/notes/:note_id', [
        parameter('sort', 'enum', { enum: ['asc', 'other'] }),
        parameter('iids', 'integer'),
        parameter('since', 'date'),
        parameter('ref', 'boolean'),
        parameter('none', 'string'),
        parameter('not[author]', 'string'),
        parameter('page', 'integer', { required: true }),
      ]),
    ]);
    expect(found.missing).toHaveLength(1);
    expect(found.missingParameters.map((p) => p.parameter)).toEqual(['none', 'not[author]']);
    expect(found.mistyped.map((p) => `${p.parameter} ${p.problem}`)).toEqual([
      'sort does not take other',
      'iids should be integer and is "array"',
      'ref should be boolean and is "string"',
      'ref should not be required',
      'page should be required',
    ]);
  });
});
