import { userNamed } from '../../domain/accounts/accounts.ts';
import * as emails from '../../domain/emails/emails.ts';
import { administrator, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { counted, endpoint } from '../endpoint.ts';
import { email } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'keys';
const absent = { status: 404, description: 'Email address not found' };
const absentOfUser = { status: 404, description: 'User or email address not found' };
const refused = { status: 400, description: 'The email address is invalid or already in use' };
const tooMany = { status: 429, description: 'Too many confirmation emails in an hour' };

const userId = () => p.params({ id: p.integer({ required: true, description: 'ID of the user' }) });
const emailId = () =>
  p.params({ email_id: p.integer({ required: true, description: 'ID of the email address' }) });
const userAndEmail = () =>
  p.params({
    id: p.integer({ required: true, description: 'ID of the user' }),
    email_id: p.integer({ required: true, description: 'ID of the email address' }),
  });

const listOwn = endpoint({
  method: 'GET',
  path: '/user/emails',
  area,
  summary: 'List your email addresses',
  description: 'Does not include the primary email address.',
  access: signedIn(),
  scopes: ['read_user'],
  returns: { body: shapes.emails },
  paginate: 'offset',
  handle: async ({ actor, page }, { store }) => {
    const found = await store.emails.list(actor.user.id, counted(page));
    return { ...found, items: found.items.map(email) };
  },
});

const getOwn = endpoint({
  method: 'GET',
  path: '/user/emails/:email_id',
  area,
  summary: 'Get one of your email addresses',
  access: signedIn(),
  scopes: ['read_user'],
  params: emailId,
  returns: { body: shapes.email },
  errors: [absent],
  handle: async ({ actor, params }, deps) =>
    email(await emails.getEmail(deps, actor.user.id, params.email_id)),
});

const createOwn = endpoint({
  method: 'POST',
  path: '/user/emails',
  area,
  summary: 'Add an email address to your account',
  description: 'Sends a confirmation link to the address. Until it is confirmed, the address has no effect.',
  access: signedIn(),
  body: () => p.params({ email: p.string({ required: true, description: 'Email address to add' }) }),
  returns: { body: shapes.email },
  errors: [refused, tooMany],
  handle: async ({ actor, body, request }, deps) => {
    const input = { email: body.email, confirmed: false, baseUrl: request.baseUrl };
    return email(await emails.addEmail(deps, actor, actor.user, input));
  },
});

const removeOwn = endpoint({
  method: 'DELETE',
  path: '/user/emails/:email_id',
  area,
  summary: 'Delete one of your email addresses',
  access: signedIn(),
  params: emailId,
  returns: { status: 204 },
  errors: [absent],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    const found = await emails.getEmail(deps, actor.user.id, params.email_id);
    unmodifiedSince(found.confirmedAt ?? found.createdAt);
    await emails.removeEmail(deps, actor, actor.user, found);
    return noContent();
  },
});

const listOfUser = endpoint({
  method: 'GET',
  path: '/users/:id/emails',
  area,
  summary: 'List the email addresses of a user',
  description: 'Does not include the primary email address.',
  access: administrator(),
  scopes: ['read_user'],
  params: userId,
  returns: { body: shapes.emails },
  paginate: 'offset',
  errors: [{ status: 404, description: 'User not found' }],
  handle: async ({ params, page }, deps) => {
    const user = await userNamed(deps, String(params.id));
    const found = await deps.store.emails.list(user.id, counted(page));
    return { ...found, items: found.items.map(email) };
  },
});

const createForUser = endpoint({
  method: 'POST',
  path: '/users/:id/emails',
  area,
  summary: 'Add an email address for a user',
  access: administrator(),
  params: userId,
  body: () =>
    p.params({
      email: p.string({ required: true, description: 'Email address to add' }),
      skip_confirmation: p.boolean({
        default: false,
        description: 'Confirm the address immediately, without sending a confirmation email',
      }),
    }),
  returns: { body: shapes.email },
  errors: [refused, tooMany, { status: 404, description: 'User not found' }],
  handle: async ({ actor, params, body, request }, deps) => {
    const user = await userNamed(deps, String(params.id));
    const input = { email: body.email, confirmed: body.skip_confirmation, baseUrl: request.baseUrl };
    return email(await emails.addEmail(deps, actor, user, input));
  },
});

const removeOfUser = endpoint({
  method: 'DELETE',
  path: '/users/:id/emails/:email_id',
  area,
  summary: 'Delete an email address of a user',
  access: administrator(),
  params: userAndEmail,
  returns: { status: 204 },
  errors: [absentOfUser],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    const user = await userNamed(deps, String(params.id));
    const found = await emails.getEmail(deps, user.id, params.email_id);
    unmodifiedSince(found.confirmedAt ?? found.createdAt);
    await emails.removeEmail(deps, actor, user, found);
    return noContent();
  },
});

export const emailEndpoints = [
  listOwn,
  getOwn,
  createOwn,
  removeOwn,
  listOfUser,
  createForUser,
  removeOfUser,
];
