/** The page that the link to choose a password opens: the form and its result. No scripts, no external resources. */
import { DomainError } from '../../domain/errors.ts';
import { choosePassword } from '../../domain/users/password-resets.ts';
import { MAX_PASSWORD_LENGTH } from '../../domain/users/passwords.ts';
import { readBody } from '../../http/body.ts';
import type { Page } from '../../http/function.ts';
import type { Reply } from '../../http/reply.ts';
import type { ApiDeps } from '../endpoint.ts';
import { formPage } from '../pages/form-page.ts';
import { escaped } from './present.ts';

const FORM_BYTES = 16 * 1024;
const MAX_TOKEN = 100;

/** `GET /users/password/edit?reset_password_token=`: shows the form without checking the token. */
export const choosePasswordPage: Page<ApiDeps> = async (_, request, deps) => {
  const token = new URL(request.url).searchParams.get('reset_password_token') ?? '';
  return form(await minLengthOf(await deps()), 200, token.slice(0, MAX_TOKEN));
};

/** `POST /users/password`: receives the form, or the same fields as `user[password]`. */
export const passwordChosen: Page<ApiDeps> = async (facts, request, deps) => {
  const body = await readBody(request, FORM_BYTES);
  const nested = body['user'];
  const fields = typeof nested === 'object' && nested !== null ? (nested as Record<string, unknown>) : body;
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '');
  const token = text('reset_password_token').slice(0, MAX_TOKEN);
  const password = text('password');
  const minLength = await minLengthOf(await deps());
  if (password !== (text('password_confirmation') || password))
    return form(minLength, 400, token, "Password confirmation doesn't match Password");
  try {
    const origin = { address: facts.sourceIp, requestId: facts.requestId };
    const input = { token, password, sourceIp: facts.sourceIp };
    await choosePassword(await deps(), { kind: 'anonymous', origin }, input);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return form(minLength, STATUS[error.code] ?? 400, token, sentence(error));
  }
  return page(200, '<p>Your password was changed. You can close this page.</p>');
};

/** Minimum length of a password, in characters. */
const minLengthOf = async ({ settings }: ApiDeps) => (await settings.current()).minimum_password_length;

const STATUS: Partial<Record<DomainError['code'], number>> = {
  'not-found': 404,
  'too-many-requests': 429,
  conflict: 409,
};

function sentence({ detail }: DomainError): string {
  if (typeof detail === 'string') return detail;
  if (Array.isArray(detail)) return detail.join(' ');
  const problems = Object.entries(detail as Record<string, unknown>).map(([field, texts]) =>
    field === 'error'
      ? String(texts)
      : `${field[0]!.toUpperCase()}${field.slice(1)} ${[texts].flat().join(' and ')}`,
  );
  return problems.join('. ');
}

/** The form's action is relative to the page, so that it works below the path of an API Gateway stage. */
function form(minLength: number, status: number, token: string, problem?: string): Reply {
  const length = `minlength="${minLength}" maxlength="${MAX_PASSWORD_LENGTH}"`;
  const field = (name: string, label: string) =>
    `<p><label>${label}<br><input type="password" name="${name}" required autocomplete="new-password" ${length}></label></p>`;
  const action = status === 200 ? '../password' : 'password';
  return page(
    status,
    `${problem === undefined ? '' : `<p role="alert"><strong>${escaped(problem)}</strong></p>`}
<form method="post" action="${action}"><input type="hidden" name="reset_password_token" value="${escaped(token)}">
${field('password', `New password (at least ${minLength} characters)`)}
${field('password_confirmation', 'Confirm the new password')}
<p><button>Change password</button></p></form>`,
  );
}

const page = (status: number, main: string): Reply => formPage('Choose a password', status, main);
