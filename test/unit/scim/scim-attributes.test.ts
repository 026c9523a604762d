import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scimAlias } from '../../../lib/api/scim/alias.ts';
import { DomainError } from '../../../lib/domain/errors.ts';
import { usernameProblems } from '../../../lib/domain/name-rules.ts';
import { fullNameOf, usernameOf } from '../../../lib/domain/scim/account.ts';
import { attributesOf, patched } from '../../../lib/domain/scim/attributes.ts';
import { parseFilter } from '../../../lib/domain/scim/filter.ts';
import { NotReadable, parseComparisons, parsePath } from '../../../lib/domain/scim/path.ts';
import type { ScimUser } from '../../../lib/domain/scim/user.ts';
import { cpuMs } from '../../harness/cpu-ms.ts';

const CORE = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** What is told of a refusal. */
function scimTypeOf(work: () => unknown): unknown {
  try {
    return { none: work() };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.extra['scimType'];
  }
}

describe('SCIM paths', () => {
  test.each([
    ['userName', { attribute: 'username' }],
    ['NAME.FamilyName', { attribute: 'name', sub: 'familyname' }],
    [`${CORE}:name.familyName`, { attribute: 'name', sub: 'familyname' }],
    [`${ENTERPRISE}:department`, { attribute: `${ENTERPRISE.toLowerCase()}:department` }],
    [
      'emails[type eq "work"].value',
      { attribute: 'emails', sub: 'value', where: [{ path: { attribute: 'type' }, value: 'work' }] },
    ],
    [
      ' emails[ type  EQ "a]\\"b" and primary eq True ] ',
      {
        attribute: 'emails',
        where: [
          { path: { attribute: 'type' }, value: 'a]"b' },
          { path: { attribute: 'primary' }, value: true },
        ],
      },
    ],
  ])('%s', (text, path) => {
    expect(parsePath(text)).toEqual(path);
  });

  test.each([
    '',
    '.',
    'a.',
    '.b',
    'a.b.c',
    'a..b',
    'emails[',
    'emails[]',
    'emails[type eq "work"',
    'emails[type eq "work"]x',
    'emails[type eq "work"].',
    'emails[type ne "work"]',
    'emails[type eq work]',
    'emails[type eq "work" or type eq "home"]',
    'emails[type[a eq 1] eq 1]',
    'name.formatted[a eq 1]',
    '9',
    'é',
    'a b',
    'a'.repeat(1001),
    `emails[${Array.from({ length: 11 }, () => 'a eq 1').join(' and ')}]`,
  ])('%s is none', (text) => {
    expect(() => parsePath(text)).toThrow(NotReadable);
  });

  test('are read or refused quickly, for any text', () => {
    const parts = fc.constantFrom(
      'emails',
      '[',
      ']',
      '.',
      ' eq ',
      ' and ',
      '"',
      '\\',
      'type',
      ':',
      CORE,
      ' ',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(parts, { maxLength: 40 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, (some) => {
        for (const read of [parsePath, parseComparisons]) {
          try {
            const found = read(some);
            expect(JSON.stringify(found)).toMatch(/attribute/);
          } catch (error) {
            expect(error).toBeInstanceOf(NotReadable);
          }
        }
      }),
    );
  });
});

describe('SCIM filters', () => {
  test.each([
    ['id eq "x"', { by: 'externUid', value: 'x' }],
    ['externalId eq "X y"', { by: 'externUid', value: 'X y' }],
    ['USERNAME Eq "a@b.example"', { by: 'userName', value: 'a@b.example' }],
    [`${CORE}:userName eq "a"`, { by: 'userName', value: 'a' }],
    ['userName eq "a\\"b\\\\\\u00e9"', { by: 'userName', value: 'a"b\\é' }],
    ['emails eq "a@b.example"', { by: 'email', value: 'a@b.example' }],
    ['emails.value eq "a@b.example"', { by: 'email', value: 'a@b.example' }],
    ['emails[type eq "work"].value eq "a@b.example"', { by: 'email', value: 'a@b.example' }],
    ['emails[primary eq true].value eq "a@b.example"', { by: 'email', value: 'a@b.example' }],
  ])('%s', (text, filter) => {
    expect(parseFilter(text)).toMatchObject(filter);
  });

  test.each([
    '',
    'userName',
    'userName eq',
    'userName eq a',
    'userName eq 5',
    'userName eq null',
    'userName eq "a',
    "userName eq 'a'",
    'userName eq "a" and',
    'userName eq "a" and title eq "b"',
    'userName eq "a" and emails.type eq "work"',
    'userName eq "a" and emails[type eq "home"].value eq "b"',
    'userName eq "a" and name.familyName[type eq "work"] eq "b"',
    'userName eq "a" and active ne true',
    'userName eq "a" and __proto__ eq "b"',
    'active eq true',
    'active eq true and displayName eq "a"',
    Array.from({ length: 11 }, () => 'userName eq "a"').join(' and '),
    'userName eq "a" or userName eq "b"',
    'not (userName eq "a")',
    '(userName eq "a")',
    ...['ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'].map((operator) => `userName ${operator} "a"`),
    'userName pr',
    'title eq "a"',
    'name.familyName eq "a"',
    'id.value eq "a"',
    'emails.type eq "work"',
    'emails[type eq "home"].value eq "a"',
    'emails[type eq "work"].type eq "a"',
    'id[type eq "work"] eq "a"',
    '__proto__ eq "a"',
    'userName eq "\u0000"',
    `userName eq "${'a'.repeat(1000)}"`,
  ])('%s is refused', (text) => {
    expect(scimTypeOf(() => parseFilter(text))).toBe('invalidFilter');
  });

  const ada = {
    identity: {
      externUid: 'Ada',
      userName: 'ada@b.example',
      email: 'ada@b.example',
      active: false,
      givenName: 'Ada',
      familyName: null,
      displayName: 'A. L.',
    },
    user: { name: 'Ada Lovelace' },
  } as unknown as ScimUser;
  test.each([
    ['userName eq "x" and active eq false', true],
    ['active eq False and userName eq "x"', true],
    ['userName eq "x" AND active eq true', false],
    ['userName eq "x" and active eq "false"', false],
    ['userName eq "x" and externalId eq "Ada"', true],
    ['userName eq "x" and externalId eq "ada"', false],
    ['userName eq "x" and id eq "Ada" and name.givenName eq "ADA"', true],
    ['userName eq "x" and name.familyName eq "x"', false],
    ['userName eq "x" and name.familyName eq null', true],
    ['userName eq "x" and name.formatted eq "ada lovelace" and displayName eq "a. l."', true],
    ['id eq "x" and emails[type eq "work"].value eq "ADA@b.example"', true],
    ['id eq "x" and emails.value eq 5', false],
  ])('what else is to hold: %s is %s', (text, holds) => {
    expect(parseFilter(text).holds(ada)).toBe(holds);
  });

  test('can search for any text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100, unit: 'binary' }), (value) => {
        expect(parseFilter(`userName eq ${JSON.stringify(value)}`)).toMatchObject({ by: 'userName', value });
      }),
    );
  });
});

describe('SCIM patches', () => {
  const op = (path: string | undefined, value: unknown, kind = 'Replace') => ({
    op: kind,
    ...(path === undefined ? {} : { path }),
    value,
  });

  test.each([
    ['no operation', [], {}],
    ['a text', [op('active', 'False')], { active: false }],
    ['a boolean', [op('active', true, 'add')], { active: true }],
    ['an operation in any case', [op('Active', 'true', 'REPLACE')], { active: true }],
    ['an object without a path', [op(undefined, { active: false })], { active: false }],
    ['a wrapped value', [op('userName', [{ $ref: null, value: 'a' }])], { userName: 'a' }],
    [
      'names of attributes that are paths',
      [
        op(undefined, {
          'name.givenName': 'A',
          'emails[type eq "work"].value': 'a@b.example',
          [`${CORE}:userName`]: 'a',
          [`${ENTERPRISE}:department`]: 'x',
        }),
      ],
      { givenName: 'A', email: 'a@b.example', userName: 'a' },
    ],
    [
      'the whole name',
      [op('name', { formatted: 'A B', familyname: 'B' })],
      { formatted: 'A B', familyName: 'B' },
    ],
    ['the whole name as a text', [op('name', 'A B')], { formatted: 'A B' }],
    ['a filter', [op('emails[type eq "work"].value', 'a@b.example', 'Add')], { email: 'a@b.example' }],
    [
      'a filter without a value',
      [op('emails[type eq "work"]', { value: 'a@b.example' })],
      { email: 'a@b.example' },
    ],
    [
      'several addresses',
      [
        op('emails', [
          { value: 'h@b.example', type: 'home' },
          { value: 'w@b.example', type: 'Work' },
        ]),
      ],
      { email: 'w@b.example' },
    ],
    [
      'the primary of several',
      [
        op('emails', [
          { value: 'w@b.example', type: 'work' },
          { value: 'p@b.example', primary: true },
        ]),
      ],
      { email: 'p@b.example' },
    ],
    [
      'one that is said to be primary by a text',
      [
        op('emails', [
          { value: 'w@b.example', type: 'work' },
          { value: 'p@b.example', primary: 'True' },
        ]),
      ],
      { email: 'p@b.example' },
    ],
    ['addresses of home alone', [op('emails', [{ value: 'h@b.example', type: 'home' }])], {}],
    ['the address of home', [op('emails[type eq "home"].value', 'h@b.example')], {}],
    ['the type of an address', [op('emails[type eq "work"].type', 'work')], {}],
    [
      'what nobody knows',
      [op('title', 'x'), op('addresses[type eq "work"].locality', 'y'), op('roles', [])],
      {},
    ],
    [
      'members of the prototype',
      [op(undefined, { constructor: { active: false }, toString: 1, hasOwnProperty: 2 })],
      {},
    ],
    ['externalId and id', [op('externalId', 'x'), op('id', 'y')], { externUid: 'y' }],
    ['what comes last', [op('active', false), op('active', true)], { active: true }],
    ['a name that is taken away', [{ op: 'remove', path: 'name.givenName' }], { givenName: null }],
    ['a name that is nothing', [op('name.givenName', '')], { givenName: null }],
    ['no name at all', [op('name', null)], { formatted: null, givenName: null, familyName: null }],
    [
      'what is gone already',
      [
        { op: 'Remove', path: 'title' },
        { op: 'remove', path: 'emails[type eq "home"]' },
      ],
      {},
    ],
  ])('%s', (_, operations, said) => {
    expect(patched(operations)).toEqual(said);
  });

  test.each([
    ['no list', { op: 'replace' }, 'invalidSyntax'],
    ['nothing', undefined, 'invalidSyntax'],
    ['too many', Array.from({ length: 101 }, () => op('active', true)), 'invalidSyntax'],
    ['no object', ['replace'], 'invalidSyntax'],
    ['null', [null], 'invalidSyntax'],
    ['no operation', [{ path: 'active', value: true }], 'invalidSyntax'],
    ['an unknown operation', [op('active', true, 'move')], 'invalidSyntax'],
    ['an operation that is no text', [{ op: 1, path: 'active', value: true }], 'invalidSyntax'],
    ['a path that is no text', [{ op: 'add', path: 5, value: true }], 'invalidPath'],
    ['a path that is none', [op('emails[type eq', 'x')], 'invalidPath'],
    ['a member that is no path', [op(undefined, { 'emails[': 'x' })], 'invalidPath'],
    ['the prototype', [op(undefined, JSON.parse('{"__proto__": {"active": false}}'))], 'invalidPath'],
    ['no value', [{ op: 'add', path: 'active' }], 'invalidValue'],
    ['no path and no object', [op(undefined, 'x')], 'invalidValue'],
    ['no path and a list', [op(undefined, [{ active: false }])], 'invalidValue'],
    ['a boolean that is none', [op('active', 'maybe')], 'invalidValue'],
    ['a number for a boolean', [op('active', 0)], 'invalidValue'],
    ['null for a boolean', [op('active', null)], 'invalidValue'],
    ['an object for a text', [op('userName', { a: 1 })], 'invalidValue'],
    ['a blank text', [op('userName', ' ')], 'invalidValue'],
    ['a long text', [op('userName', 'a'.repeat(256))], 'invalidValue'],
    ['NUL', [op('externalId', 'a\0b')], 'invalidValue'],
    ['half a character', [op('externalId', '\ud800')], 'invalidValue'],
    ['a number for a name', [op('name', 5)], 'invalidValue'],
    ['no address', [op('emails', null)], 'invalidValue'],
    ['an address without a value', [op('emails', [{ type: 'work' }])], 'invalidValue'],
    ['nothing to remove', [{ op: 'remove' }], 'noTarget'],
    ['what has to be', [{ op: 'remove', path: 'userName' }], 'mutability'],
    ['the one address', [{ op: 'remove', path: 'emails[type eq "work"]' }], 'mutability'],
    ['a sound operation before a bad one', [op('active', false), op('active', 'x')], 'invalidValue'],
  ])('%s is refused', (_, operations, scimType) => {
    expect(scimTypeOf(() => patched(operations))).toBe(scimType);
  });

  test('are read or refused, for any body', () => {
    const word = fc.constantFrom(
      'op',
      'path',
      'value',
      'replace',
      'remove',
      'active',
      'emails',
      'name',
      'id',
    );
    const json = fc.oneof(
      fc.jsonValue(),
      fc.array(fc.dictionary(fc.oneof(word, fc.string()), fc.oneof(word, fc.jsonValue()))),
    );
    fc.assert(
      fc.property(json, (some) => {
        for (const read of [() => patched(some), () => attributesOf({ some, emails: some, name: some })]) {
          try {
            read();
          } catch (error) {
            expect(error).toBeInstanceOf(DomainError);
            expect((error as DomainError).code).toBe('bad-request');
          }
        }
      }),
    );
  });
});

test('a SCIM resource describes a user, and the provider cannot choose its id', () => {
  expect(
    attributesOf({
      schemas: [CORE],
      id: 'no',
      externalid: 'x',
      USERNAME: 'a',
      displayName: 'A',
      name: { formatted: '', GivenName: 'G' },
      emails: [{ value: 'a@b.example' }],
      [ENTERPRISE]: { department: 'd' },
      active: true,
    }),
  ).toEqual({
    externUid: 'x',
    userName: 'a',
    displayName: 'A',
    formatted: null,
    givenName: 'G',
    email: 'a@b.example',
    active: true,
  });
});

test('a SCIM resource may have the name as a text, and null means no value', () => {
  expect(attributesOf({ userName: 'a', name: 'A B', displayName: null, active: null, emails: null })).toEqual(
    {
      userName: 'a',
      formatted: 'A B',
      displayName: null,
    },
  );
});

test.each([
  [{ formatted: 'A B', givenName: 'X' }, { givenName: 'X', familyName: 'Y' }, 'A B'],
  [{ givenName: 'X' }, { givenName: 'X', familyName: 'Y' }, 'X Y'],
  [{ familyName: null, displayName: 'D' }, { givenName: null, familyName: null }, 'D'],
  [{ displayName: 'D' }, { givenName: 'X', familyName: 'Y' }, 'D'],
  [{}, { givenName: 'X', familyName: 'Y' }, undefined],
])('%j with %j is %s', (said, names, name) => {
  expect(fullNameOf(said, names)).toBe(name);
});

describe('usernames', () => {
  test.each([
    ['alice', 'alice'],
    ['alice@corp.example', 'alice'],
    ['Ali.Ce+tag@corp.example', 'Ali.Ce-tag'],
    ['Åse Ölund', 'Ase-Olund'],
    ['--x--', 'x'],
    ['a..b.', 'a.b'],
    ['repo.git', 'repo'],
    ['@corp.example', 'corp.example'],
    ['日本', 'user'],
    ['a'.repeat(300), 'a'.repeat(200)],
  ])('%s becomes %s', (userName, username) => {
    expect(usernameOf(userName)).toBe(username);
  });

  test('are made from any text, with a number where the name is reserved', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (userName) => {
        expect(usernameProblems(`${usernameOf(userName)}1`)).toEqual([]);
      }),
    );
  });
});

test.each([
  ['/api/scim/v2/groups/a/Users', '/api/scim/v2/groups/a/Users'],
  ['/api/scim/v2/groups/a/Users/', '/api/scim/v2/groups/a/Users'],
  ['/api/scim/v2/groups/a%2Fb/Users/x', '/api/scim/v2/groups/a%2Fb/Users/x'],
  ['/api/scim/v2/groups/a/b/c/Users/x', '/api/scim/v2/groups/a%2Fb%2Fc/Users/x'],
  ['/api/scim/v2/groups/a/Users/x/y', '/api/scim/v2/groups/a/Users/x%2Fy'],
  ['/api/scim/v2/groups/Users/Users/x', '/api/scim/v2/groups/Users/Users/x'],
  // A base URL with a trailing slash.
  ['/api/scim/v2/groups/a/b//Users/x', '/api/scim/v2/groups/a%2Fb/Users/x'],
  ['/api/scim/v2/groups/a/.search', '/api/scim/v2/groups/a/.search'],
  ['/api/scim/v2/groups/a/b/Users/.search', '/api/scim/v2/groups/a%2Fb/Users/.search'],
  ['/api/scim/v2/groups/a/Else', undefined],
  ['/api/scim/v2/groups/Users', undefined],
])('%s is served at %s', (path, served) => {
  expect(scimAlias(path)).toBe(served);
});

test.each([
  ['slashes', '/'.repeat(200_000)],
  ['slashes before an end', `${'/'.repeat(200_000)}x`],
  ['slashes in an id', `a/Users/${'/'.repeat(200_000)}x`],
  ['segments', 'a/'.repeat(100_000)],
  ['words that name resources, nearly', 'Users'.repeat(40_000)],
])('a path of many %s is read in no time', (_, path) => {
  const begun = cpuMs();
  scimAlias(`/api/scim/v2/groups/${path}`);
  // A backtracking pattern takes 20 seconds.
  expect(cpuMs() - begun).toBeLessThan(1000);
});
