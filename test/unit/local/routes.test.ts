import { expect, test } from 'vitest';
import { areas } from '../../../functions/areas.ts';
import { allEndpoints } from '../../../lib/api/all.ts';
import { gatewayRoutes } from '../../../local/routes.ts';

const route = gatewayRoutes(areas);

test.each([
  ['/', 'meta', '/'],
  ['/api/docs', 'meta', '/api/docs'],
  ['/api/v4/version', 'meta', '/api/v4/{proxy+}'],
  ['/api/v4/unknown/thing', 'meta', '/api/v4/{proxy+}'],
  ['/api/v4/projects', 'projects', '/api/v4/projects'],
  ['/api/v4/projects/', 'projects', '/api/v4/projects'],
  ['/api/v4/projects.json', 'projects', '/api/v4/projects.json'],
  ['/api/v4/projects/1/members.json', 'members', '/api/v4/projects/{id}/members.json'],
  ['/api/v4/projects/1/repository/tags.json', 'tags', '/api/v4/projects/{id}/repository/tags.json'],
  ['/api/v4/projects/group%2Fname', 'projects', '/api/v4/projects/{id}'],
  ['/api/v4/projects/1/archive', 'projects', '/api/v4/projects/{id}/{proxy+}'],
  ['/api/v4/projects/1/members', 'members', '/api/v4/projects/{id}/members'],
  ['/api/v4/projects/1/members/2', 'members', '/api/v4/projects/{id}/members/{proxy+}'],
  ['/api/v4/projects/1/repository/tree', 'repository', '/api/v4/projects/{id}/repository/{proxy+}'],
  [
    '/api/v4/projects/1/repository/commits/main/signature',
    'commits',
    '/api/v4/projects/{id}/repository/commits/{proxy+}',
  ],
  [
    '/api/v4/projects/1/repository/files/a%2Fb/raw',
    'files',
    '/api/v4/projects/{id}/repository/files/{proxy+}',
  ],
  ['/api/v4/projects/1/repository/branches', 'branches', '/api/v4/projects/{id}/repository/branches'],
  [
    '/api/v4/projects/1/repository/merged_branches',
    'branches',
    '/api/v4/projects/{id}/repository/merged_branches',
  ],
  ['/api/v4/users/1/personal_access_tokens', 'tokens', '/api/v4/users/{id}/personal_access_tokens'],
  ['/api/v4/users/1/follow', 'users', '/api/v4/users/{id}/{proxy+}'],
  ['/uploads/-/system/user/avatar/1/a.png', 'uploads', '/uploads/{proxy+}'],
  ['/alice/project.git/info/refs', 'git', '/{proxy+}'],
  ['/api', 'git', '/{proxy+}'],
  ['/api/v3/projects', 'git', '/{proxy+}'],
])('%s goes to %s over %s', (path, area, resource) => {
  expect(route(path)).toMatchObject({ area: { name: area }, resource });
});

const paths = new Set(allEndpoints.map(({ path }) => (path.startsWith('/api/') ? path : `/api/v4${path}`)));

/** They came when the resources of a gateway had become scarce: docs/architecture.md, "Resources of the gateway". */
const WITHOUT_SECOND_FORM = [
  '/api/v4/issues',
  '/api/v4/todos',
  '/api/v4/topics',
  ...['issues', 'labels', 'milestones'].flatMap((name) => [
    `/api/v4/projects/:id/${name}`,
    `/api/v4/groups/:id/${name}`,
  ]),
  '/api/v4/projects/:id/snapshot',
];
const areaOf = (path: string) => route(path.replace(/:\w+/g, '1').replace(/\*\w+/g, 'a/b'))?.area.name;

test.each([...paths].filter((path) => !path.endsWith('/avatar') && !WITHOUT_SECOND_FORM.includes(path)))(
  '%s.json goes to the area that serves it without .json',
  (path) => {
    expect(areaOf(`${path}.json`)).toBe(areaOf(path));
  },
);

test.each(WITHOUT_SECOND_FORM)('%s.json goes to the area above, which answers 404', (path) => {
  expect(areaOf(path)).not.toBe(areaOf(`${path}.json`));
  expect(areaOf(`${path}.json`)).toBe(areaOf(`${path}-that-nobody-serves`));
});

test('the parameters of a path stay encoded', () => {
  expect(route('/api/v4/projects/group%2Fname/repository/files/a%2Fb')?.pathParameters).toEqual({
    id: 'group%2Fname',
    proxy: 'a%2Fb',
  });
});
