import {
  answerCommand,
  COMMAND_SENDERS,
  type CommandSender,
} from '../../domain/integrations/slash-commands.ts';
import { anyone } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const SENDERS = Object.keys(COMMAND_SENDERS) as CommandSender[];

export const slashCommandEndpoints = (['integrations', 'services'] as const).map((name) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${name}/:slug/trigger`,
    area: 'hooks',
    summary: `Check a slash command of a chat${name === 'services' ? ' (older path)' : ''}`,
    description:
      'For Slack and Mattermost. Users of chats are not linked with accounts, so the answer to a command is that its sender is not known.',
    access: anyone(),
    params: () =>
      p.params({
        id: p.string({ required: true, description: 'ID or URL-encoded full path of the project' }),
        slug: p.routeWord(SENDERS, { description: 'Kind of integration' }),
      }),
    body: () =>
      p.params({
        token: p.string({ required: true, blank: false, description: 'Token of the integration' }),
      }),
    returns: { status: 200, body: shapes.commandAnswer },
    errors: [{ status: 404, description: 'There is no such project or integration, or the token is wrong' }],
    handle: ({ params, body }, deps) => answerCommand(deps, params.slug, params.id, body.token),
  }),
);
