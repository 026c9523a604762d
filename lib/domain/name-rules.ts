import type { FieldProblems } from './errors.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Top-level paths of the service itself, and paths that API Gateway reserves (`ping`, `sping`). */
const RESERVED_TOP_LEVEL = words(
  '- .well-known admin api apple-touch-icon.png assets dashboard explore favicon.ico files groups health_check ' +
    'help import jwt login oauth ping profile projects public robots.txt search sent_notifications snippets sping ' +
    'unsubscribes uploads users v2',
);

/** Names that would shadow routes within a project or its namespace. */
const RESERVED_PROJECT = words(
  '- badges blame blob builds commits create create_dir edit environments files find_file info new preview raw ' +
    'refs snippets tree update wikis',
);

export const MAX_NAME_LENGTH = 255;

const PATH = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/;
const USERNAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*[A-Za-z0-9_-]$|^[A-Za-z0-9_]$/;
// Letters, digits, emoji, `_`, then also `.`, `+`, `-`, spaces.
const NAME =
  /^[\p{L}\p{N}\p{Extended_Pictographic}_](?:[\p{L}\p{M}\p{N}\p{Pd}\p{Extended_Pictographic}_.+ -]|\u200d|\ufe0f)*$/u;

const GROUP_NAME =
  /^[\p{L}\p{N}\p{Extended_Pictographic}_](?:[\p{L}\p{M}\p{N}\p{Pd}\p{Extended_Pictographic}_.() -]|\u200d|\ufe0f)*$/u;

const PATH_RULE =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'";

/** Problems with a project's path, with the texts of model validation; empty if there are none. */
export function projectPathProblems(path: string): string[] {
  if (path === '') return ["can't be blank"];
  const problems: string[] = [];
  if (path.length > MAX_NAME_LENGTH) problems.push('is too long (maximum is 255 characters)');
  if (!PATH.test(path) || /\.(git|atom)$/i.test(path) || /^\.{1,2}$/.test(path)) problems.push(PATH_RULE);
  else if (RESERVED_PROJECT.has(path.toLowerCase())) problems.push(`${path} is a reserved name`);
  // The path of another project's or group's wiki.
  else if (/\.wiki$/i.test(path)) problems.push("cannot end in '.wiki'");
  return problems;
}

export function projectNameProblems(name: string): string[] {
  if (name === '') return ["can't be blank"];
  const problems: string[] = [];
  if (name.length > MAX_NAME_LENGTH) problems.push('is too long (maximum is 255 characters)');
  if (!NAME.test(name)) {
    problems.push(
      "can contain only letters, digits, emojis, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'.",
    );
  }
  return problems;
}

/** Problems with a username, which is also the path of the personal namespace. */
export function usernameProblems(username: string): string[] {
  if (username === '') return ["can't be blank"];
  const problems: string[] = [];
  if (username.length > MAX_NAME_LENGTH) problems.push('is too long (maximum is 255 characters)');
  if (!USERNAME.test(username) || username.includes('..') || /\.(git|atom)$/i.test(username)) {
    problems.push(
      "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.",
    );
  } else if (RESERVED_TOP_LEVEL.has(username.toLowerCase())) problems.push(`${username} is a reserved name`);
  return problems;
}

/** Problems with a group's path; that of a top-level group shares the names reserved for usernames. */
export function groupPathProblems(path: string, isTopLevel: boolean): string[] {
  if (path === '') return ["can't be blank"];
  const problems: string[] = [];
  if (path.length > MAX_NAME_LENGTH) problems.push('is too long (maximum is 255 characters)');
  if (!USERNAME.test(path) || path.includes('..') || /\.(git|atom)$/i.test(path)) {
    problems.push(
      "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.",
    );
  } else if ((isTopLevel ? RESERVED_TOP_LEVEL : RESERVED_PROJECT).has(path.toLowerCase())) {
    problems.push(`${path} is a reserved name`);
  }
  return problems;
}

export function groupNameProblems(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"];
  const problems: string[] = [];
  if (name.length > MAX_NAME_LENGTH) problems.push('is too long (maximum is 255 characters)');
  if (!GROUP_NAME.test(name)) {
    problems.push(
      "can contain only letters, digits, emojis, '_', '.', dash, space, parenthesis. It must start with letter, digit, emoji or '_'.",
    );
  }
  return problems;
}

/** `Name of It` → `name-of-it`: the path of a project that is created with a name only. */
export function pathFromName(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .replace(/(\.git|\.atom|\.wiki)+$/g, '');
}

// One address without comments or quoting; sizes of RFC 5321.
const EMAIL = /^[^\s@<>"(),:;[\]\\\u0000-\u001f\u007f]{1,64}@[^\s@<>"(),:;[\]\\\u0000-\u001f\u007f]{1,255}$/;

export function emailProblems(email: string): string[] {
  if (email === '') return ["can't be blank"];
  return EMAIL.test(email) && !email.includes('..') ? [] : ['is invalid'];
}

/** Returns the fields that have problems; undefined if none has. */
export function problemsOf(fields: Readonly<Record<string, readonly string[]>>): FieldProblems | undefined {
  const broken = Object.entries(fields).filter(([, problems]) => problems.length > 0);
  return broken.length === 0 ? undefined : Object.fromEntries(broken);
}

const MAX_DESCRIPTION = 2000;

export const descriptionProblems = (description: string | null): string[] =>
  (description ?? '').length > MAX_DESCRIPTION ? ['is too long (maximum is 2000 characters)'] : [];
