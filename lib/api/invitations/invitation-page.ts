/**
 * The page that the link in an invitation mail opens. It asks for confirmation with a form, because mail scanners follow
 * links and would otherwise answer in place of the recipient.
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

/** `GET /users/invitation?invitation_token=`: shows the form without checking the token. */
export const invitationPage: Page<ApiDeps> = (_, request) => {
  const token = (new URL(request.url).searchParams.get('invitation_token') ?? '').slice(0, MAX_TOKEN);
  return formPage(
    TITLE,
    200,
    // The form's action is relative to the page, so that it works below the path of an API Gateway stage.
    `<form method="post" action="invitation"><input type="hidden" name="invitation_token" value="${escaped(token)}">
<p><button name="answer" value="accept">Accept</button> <button name="answer" value="decline">Decline</button></p></form>`,
  );
};

const MESSAGES = {
  accepted: 'You are now a member. You can close this page.',
  declined: 'The invitation was declined. You can close this page.',
  waiting:
    'No account has confirmed this email address yet. You become a member as soon as an account confirms it; no further action is needed here.',
} as const;

/** `POST /users/invitation`: receives the form. */
export const invitationAnswered: Page<ApiDeps> = async (facts, request, deps) => {
  const { invitation_token: token, answer } = await readBody(request, FORM_BYTES);
  try {
    const outcome = await answerInvitation(
      await deps(),
      typeof token === 'string' ? token.slice(0, MAX_TOKEN) : '',
      answer === 'decline' ? 'decline' : 'accept',
      facts.sourceIp,
    );
    return formPage(TITLE, 200, `<p>${MESSAGES[outcome]}</p>`);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return formPage(TITLE, 400, `<p role="alert"><strong>${escaped(String(error.detail))}</strong></p>`);
  }
};
