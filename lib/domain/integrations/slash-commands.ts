/** Commands that chats send for their users. */

import { timingSafeEqual } from 'node:crypto';
import { secretOwnerOf } from '../../store/integrations/integrations.ts';
import { projectIdOf } from '../access/project-id.ts';
import { tokenHash } from '../access/token-check.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { integrationsAround } from './effective.ts';

/** The names of the kinds in the paths that chats call. */
export const COMMAND_SENDERS = {
  slack_slash_commands: 'slack-slash-commands',
  mattermost_slash_commands: 'mattermost-slash-commands',
} as const;
export type CommandSender = keyof typeof COMMAND_SENDERS;

/** What a chat shows. */
export interface CommandAnswer {
  /** For the sender alone. */
  readonly response_type: 'ephemeral';
  readonly text: string;
}

/** Users of chats are linked with accounts on a page of the web interface, which there is none of: nobody is known. */
const STRANGER = "Couldn't identify you, nor can I authorize you!";

/**
 * Answers a command.
 * @param project its id or full path. @param token that the chat was given by its administrator
 * @throws `404 Integration Not Found` for a wrong token, as for a project that does not exist
 */
export async function answerCommand(
  deps: Deps,
  sender: CommandSender,
  project: string,
  token: string,
): Promise<CommandAnswer> {
  const { store, secrets } = deps;
  const id = await projectIdOf(deps, project);
  const found = id === undefined ? undefined : await store.projects.get(id);
  if (found === undefined || found.deletedAt !== null) throw notFound('Integration');
  const active = await integrationsAround(deps, found.id, found.ancestorIds);
  const integration = active.find(({ slug }) => slug === COMMAND_SENDERS[sender]);
  const wanted = integration && (await secrets?.read(secretOwnerOf(integration), 'token'));
  if (wanted === undefined || !isSame(wanted, token)) throw notFound('Integration');
  return { response_type: 'ephemeral', text: STRANGER };
}

/** In a time that tells nothing of where they differ. */
const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(tokenHash(a)), Buffer.from(tokenHash(b)));
