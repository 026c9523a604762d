import { userNamed } from '../../domain/accounts/accounts.ts';
import * as emails from '../../domain/emails/emails.ts';
import { administrator, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { counted, endpoint } from '../endpoint.ts';
import { email } from '../keys/present.ts';
import * as shapes from '../keys/shapes.ts';

const area = 'keys';
const absent = { status: 404, description: 'No such address' };
const ofUser = { status: 404, description: 'No such user, or none of theirs' };
const refused = { status: 400, description: 'Not an address, or one that somebody has already' };
const tooMany = { status: 429, description: 'Too many mails in an hour' };

const userId = () => p.params({ id: p.integer({ required: true, description: 'Id of the user' }) });
const emailId = () => p.params({ email_id: p.integer({ required: true, description: 'Id of the address' }) });
const userAndEmail = () =>
  p.params({
    id: p.integer({ required: true, description: 'Id of the user' }),
    email_id: p.integer({ required: true, description: 'Id of the address' }),
  });

const listOwn = endpoint({
  method: 'GET',
  path: '/user/emails',
  area,
  summary: 'List your e-mail addresses beside the first',
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
  summary: 'Get one of your e-mail addresses',
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
  summary: 'Add an e-mail address',
  description: 'It counts once the link that is mailed to it was followed.',
  access: signedIn(),
  body: () => p.params({ email: p.string({ required: true }) }),
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
  summary: 'Delete one of your e-mail addresses',
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
  summary: 'List the e-mail addresses of a user beside the first',
  access: administrator(),
  scopes: ['read_user'],
  params: userId,
  returns: { body: shapes.emails },
  paginate: 'offset',
  errors: [{ status: 404, description: 'No such user' }],
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
  summary: 'Add an e-mail address for a user',
  access: administrator(),
  params: userId,
  body: () =>
    p.params({
      email: p.string({ required: true }),
      skip_confirmation: p.boolean({ default: false, description: 'It counts at once; no mail is sent' }),
    }),
  returns: { body: shapes.email },
  errors: [refused, tooMany, { status: 404, description: 'No such user' }],
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
  summary: 'Delete an e-mail address of a user',
  access: administrator(),
  params: userAndEmail,
  returns: { status: 204 },
  errors: [ofUser],
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
