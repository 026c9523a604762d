import { propose } from '../../harness/proposals.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, endpoint, flip } from './sent.ts';

const MERGE_REQUEST = '/projects/:id/merge_requests/:merge_request_iid';

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
  endpoint(`POST ${MERGE_REQUEST}/approvals`, async (fixtures) => {
    const { path, token, ground } = await proposed(fixtures);
    const json = { approvals_before_merge: 1 };
    await fixtures.done('POST', `/projects/${ground.id}/approvals`, { token, json });
    const state = async () => {
      const { approvals_required } = await fixtures.done('GET', `${path}/approvals`, { token });
      return after(approvals_required, 1, 2);
    };
    return { path: `${path}/approvals`, token, json: { approvals_required: 2 }, state };
  }),
  endpoint(`POST ${MERGE_REQUEST}/approve`, async (fixtures) => {
    const { path, token, state } = await approvable(fixtures);
    return { path: `${path}/approve`, token, state };
  }),
  endpoint(`POST ${MERGE_REQUEST}/unapprove`, async (fixtures) => {
    const { path, token, state } = await approved(fixtures);
    return { path: `${path}/unapprove`, token, state: async () => flip(await state()) };
  }),
  endpoint(`PUT ${MERGE_REQUEST}/reset_approvals`, async (fixtures) => {
    const { path, ground, state } = await approved(fixtures);
    const json = { name: 'bot', scopes: ['api'], access_level: 40 };
    const bot = await fixtures.done('POST', `/projects/${ground.id}/access_tokens`, {
      token: ground.owner.token,
      json,
    });
    return { path: `${path}/reset_approvals`, token: bot.token, state: async () => flip(await state()) };
  }),
  endpoint(`POST ${MERGE_REQUEST}/approval_rules`, async (fixtures) => {
    const { path, token } = await proposed(fixtures);
    const rules = `${path}/approval_rules`;
    return { path: rules, token, json: RULE, state: () => counted(fixtures, rules, token) };
  }),
  endpoint(`PUT ${MERGE_REQUEST}/approval_rules/:approval_rule_id`, async (fixtures) => {
    const { rules, rule, token } = await withOwnRule(fixtures);
    const state = async () => {
      const [{ approvals_required }] = await fixtures.done('GET', rules, { token });
      return after(approvals_required, 1, 2);
    };
    return { path: rule, token, json: { approvals_required: 2 }, state };
  }),
  endpoint(`DELETE ${MERGE_REQUEST}/approval_rules/:approval_rule_id`, async (fixtures) => {
    const { rules, rule, token } = await withOwnRule(fixtures);
    return { path: rule, token, state: async () => flip(await counted(fixtures, rules, token)) };
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

/** A merge request of the owner of a new project. */
async function proposed(fixtures: Fixtures) {
  const ground = await fixtures.ownGround();
  const { token } = ground.owner;
  const iid = await propose(ground.owner.id, ground.id, { sourceBranch: 'side', targetBranch: 'main' });
  return { ground, token, path: `/projects/${ground.id}/merge_requests/${iid}` };
}

/** The same, which its author may approve. */
async function approvable(fixtures: Fixtures) {
  const made = await proposed(fixtures);
  const { token, ground, path } = made;
  const json = { merge_requests_author_approval: true };
  await fixtures.done('POST', `/projects/${ground.id}/approvals`, { token, json });
  const state = async () => {
    const { user_has_approved } = await fixtures.done('GET', `${path}/approvals`, { token });
    return user_has_approved ? 'after' : 'before';
  };
  return { ...made, state };
}

async function approved(fixtures: Fixtures) {
  const made = await approvable(fixtures);
  await fixtures.done('POST', `${made.path}/approve`, { token: made.token });
  return made;
}

async function withOwnRule(fixtures: Fixtures) {
  const { path, token } = await proposed(fixtures);
  const rules = `${path}/approval_rules`;
  const { id } = await fixtures.done('POST', rules, { token, json: RULE });
  return { rules, token, rule: `${rules}/${id}` };
}
