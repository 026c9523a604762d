import { expect, test } from 'vitest';
import { gatewayTree, RESOURCE_QUOTA } from '../../cdk/gateway-tree.ts';
import { areasOf } from '../../functions/areas.ts';

/** Resources of the areas to come: docs/architecture.md, "Resources of the gateway". */
const PLANNED = 10;

test('the manifest’s paths make a tree that API Gateway accepts, with room for the areas to come', () => {
  const { size } = gatewayTree(areasOf('api').flatMap(({ resources }) => resources));
  expect(size).toBeLessThanOrEqual(RESOURCE_QUOTA - PLANNED);
});

test('each segment of a path is a resource, and so is the root', () => {
  expect([...gatewayTree(['/', '/a/b/{proxy+}', '/a/c'])]).toEqual([
    '/',
    '/a',
    '/a/b',
    '/a/b/{proxy+}',
    '/a/c',
  ]);
});

// API Gateway's own words: "A sibling ({sha}) of this resource already has a variable path part -- only one is allowed".
test.each([
  ['a named segment beside the rest', ['/commits/{sha}/signature', '/commits/{proxy+}']],
  ['two names for one segment', ['/users/{id}/keys', '/users/{username}/projects']],
  ['something after the rest', ['/files/{proxy+}/raw']],
  ['one path twice', ['/files/{proxy+}', '/files/{proxy+}']],
  ['a path of API Gateway’s own', ['/ping']],
  ['a variable that is a part of a segment', ['/archive.{format}']],
  ['more than 300 resources', Array.from({ length: 300 }, (_, index) => `/r${index}`)],
])('refuses %s', (_what, paths) => {
  expect(() => gatewayTree(paths)).toThrow(RangeError);
});

test('accepts 300 resources', () => {
  expect(gatewayTree(Array.from({ length: 299 }, (_, index) => `/r${index}`)).size).toBe(300);
});
