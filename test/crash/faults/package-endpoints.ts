import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { endpoint, flip, found } from './sent.ts';

const FILE = '/projects/:id/packages/generic/:package_name/:package_version/:file_name';

/** Writes of packages. */
export const packageWrites: readonly Operation[] = [
  endpoint(`PUT ${FILE}`, async (fixtures) => {
    const { id, owner } = await fixtures.ground();
    const { token } = owner;
    const path = `/projects/${id}/packages/generic/${fixtures.fresh('package')}/1.0/file.txt`;
    return { path, token, json: { content: 'of the file' }, state: () => found(fixtures, path, token) };
  }),
  endpoint('DELETE /projects/:id/packages/:package_id', async (fixtures) => {
    const { path, token } = await packed(fixtures);
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
  endpoint('DELETE /projects/:id/packages/:package_id/package_files/:package_file_id', async (fixtures) => {
    const { path, file, fileId, token } = await packed(fixtures);
    return {
      path: `${path}/package_files/${fileId}`,
      token,
      state: async () => flip(await found(fixtures, file, token)),
    };
  }),
];

async function packed(fixtures: Fixtures) {
  const { id, owner } = await fixtures.ground();
  const { token } = owner;
  const file = `/projects/${id}/packages/generic/${fixtures.fresh('package')}/1.0/file.txt`;
  const { package_id, id: fileId } = await fixtures.done('PUT', `${file}?select=package_file`, {
    token,
    json: { content: 'of the file' },
  });
  return { token, file, fileId, path: `/projects/${id}/packages/${package_id}` };
}
