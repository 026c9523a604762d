import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, endpoint, flip } from './sent.ts';

/** Writes of approval rules and settings. */
export const approvalWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/approvals', async (fixtures) => {
    const { id, owner } = await fixtures.ownGround();
    const path = `/projects/${id}/approvals`;
    const state = async () => {
      const { approvals_before_merge } = await fixtures.done('GET', path, { token: owner.token });
      return after(approvals_before_merge, 0, 2);
    };
    return { path, token: owner.token, json: { approvals_before_merge: 2 }, state };
  }),
  endpoint('PUT /projects/:id/merge_request_approval_setting', async (fixtures) => {
    const { id, owner } = await fixtures.ownGround();
    return decided(fixtures, `/projects/${id}/merge_request_approval_setting`, owner.token);
  }),
  endpoint('PUT /groups/:id/merge_request_approval_setting', async (fixtures) => {
    const { token } = await fixtures.owner();
    const name = fixtures.fresh('decided');
    const { id } = await fixtures.done('POST', '/groups', { token, json: { name, path: name } });
    return decided(fixtures, `/groups/${id}/merge_request_approval_setting`, token);
  }),
  endpoint('POST /projects/:id/approval_rules', async (fixtures) => {
    const { path, token } = await project(fixtures);
    return { path, token, json: RULE, state: () => counted(fixtures, path, token) };
  }),
  endpoint('PUT /projects/:id/approval_rules/:approval_rule_id', async (fixtures) => {
    const { path, token, rule } = await withRule(fixtures);
    const state = async () => {
      const [{ approvals_required }] = await fixtures.done('GET', path, { token });
      return after(approvals_required, 1, 2);
    };
    return { path: rule, token, json: { approvals_required: 2 }, state };
  }),
  endpoint('DELETE /projects/:id/approval_rules/:approval_rule_id', async (fixtures) => {
    const { path, token, rule } = await withRule(fixtures);
    return { path: rule, token, state: async () => flip(await counted(fixtures, path, token)) };
  }),
];

const RULE = { name: 'all', approvals_required: 1 };

function decided(fixtures: Fixtures, path: string, token: string) {
  const state = async () => {
    const { allow_committer_approval } = await fixtures.done('GET', path, { token });
    return allow_committer_approval.value ? 'before' : 'after';
  };
  return { path, token, json: { allow_committer_approval: false }, state };
}

/** A new project without rules. */
async function project(fixtures: Fixtures): Promise<{ readonly path: string; readonly token: string }> {
  const { id, owner } = await fixtures.ownGround();
  return { path: `/projects/${id}/approval_rules`, token: owner.token };
}

async function withRule(fixtures: Fixtures) {
  const made = await project(fixtures);
  const { id } = await fixtures.done('POST', made.path, { token: made.token, json: RULE });
  return { ...made, rule: `${made.path}/${id}` };
}
