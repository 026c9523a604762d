/**
 * The page behind the link of an invitation. It asks once more: programs that look at links in mail follow them too, and
 * would answer for whoever it was sent to.
 */
import { DomainError } from '../../domain/errors.ts';
import { answerInvitation } from '../../domain/invitations/invitations.ts';
import { readBody } from '../../http/body.ts';
import type { Page } from '../../http/function.ts';
import type { ApiDeps } from '../endpoint.ts';
import { formPage } from '../pages/form-page.ts';
import { escaped } from '../users/present.ts';

const FORM_BYTES = 4 * 1024;
const MAX_TOKEN = 100;
const TITLE = 'Invitation';

/** `GET /users/invitation?invitation_token=`: says nothing of whether the link is good. */
export const invitationPage: Page<ApiDeps> = (_, request) => {
  const token = (new URL(request.url).searchParams.get('invitation_token') ?? '').slice(0, MAX_TOKEN);
  return formPage(
    TITLE,
    200,
    // Where it is sent is said relative to the page, so that a stage before it does not matter.
    `<form method="post" action="invitation"><input type="hidden" name="invitation_token" value="${escaped(token)}">
<p><button name="answer" value="accept">Accept</button> <button name="answer" value="decline">Decline</button></p></form>`,
  );
};

const TOLD = {
  accepted: 'You are a member now. You may close this page.',
  declined: 'The invitation is no more. You may close this page.',
  waiting:
    'No account has this address and has confirmed it. Once one does, it is a member: nothing more is to be done here.',
} as const;

/** `POST /users/invitation`: the form. */
export const invitationAnswered: Page<ApiDeps> = async (facts, request, deps) => {
  const { invitation_token: token, answer } = await readBody(request, FORM_BYTES);
  try {
    const told = await answerInvitation(
      await deps(),
      typeof token === 'string' ? token.slice(0, MAX_TOKEN) : '',
      answer === 'decline' ? 'decline' : 'accept',
      facts.sourceIp,
    );
    return formPage(TITLE, 200, `<p>${TOLD[told]}</p>`);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return formPage(TITLE, 400, `<p role="alert"><strong>${escaped(String(error.detail))}</strong></p>`);
  }
};
