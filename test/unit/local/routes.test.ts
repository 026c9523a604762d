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
  ['/api/v4/projects.json', 'meta', '/api/v4/{proxy+}'],
  ['/api/v4/projects/1/members.json', 'projects', '/api/v4/projects/{id}/{proxy+}'],
  ['/api/v4/projects/1/repository/tags.json', 'repository', '/api/v4/projects/{id}/repository/{proxy+}'],
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
const inApi = [...paths].filter((path) => path.startsWith('/api/v4/'));

test.each(inApi)('%s.json goes to a function behind the same root', (path) => {
  expect(route(`${path.replace(/:\w+/g, '1').replace(/\*\w+/g, 'a/b')}.json`)?.resource).toMatch(
    /^\/api\/v4/,
  );
});

test('the parameters of a path stay encoded', () => {
  expect(route('/api/v4/projects/group%2Fname/repository/files/a%2Fb')?.pathParameters).toEqual({
    id: 'group%2Fname',
    proxy: 'a%2Fb',
  });
});
