import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { credentialOf, deployCredentialOf, jobCredentialOf, sudoOf } from '../../../lib/http/credentials.ts';

const token = (text: string, via: string) => ({ kind: 'token', token: text, via });
const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` });

describe('credentials', () => {
  test.each<[string, Record<string, string>, Record<string, unknown>, unknown]>([
    ['none', {}, {}, { kind: 'none' }],
    ['header', { 'PRIVATE-TOKEN': ' a ' }, {}, token('a', 'private-token')],
    ['parameter', {}, { private_token: 'a' }, token('a', 'private-token')],
    ['bearer', { Authorization: 'Bearer a' }, {}, token('a', 'bearer')],
    ['bearer, lower case', { Authorization: 'bearer a' }, {}, token('a', 'bearer')],
    ['access_token', {}, { access_token: 'a' }, token('a', 'bearer')],
    ['basic', basic('anyone:a'), {}, { ...token('a', 'basic'), username: 'anyone' }],
    ['basic, colon in the password', basic(':a:b'), {}, { ...token('a:b', 'basic'), username: '' }],
    [
      'basic, an endless username',
      basic(`${'x'.repeat(999)}:a`),
      {},
      { ...token('a', 'basic'), username: 'x'.repeat(255) },
    ],
    [
      'header before parameter',
      { 'PRIVATE-TOKEN': 'a' },
      { private_token: 'b' },
      token('a', 'private-token'),
    ],
    ['empty header', { 'PRIVATE-TOKEN': '' }, {}, { kind: 'none' }],
    ['basic without a password', basic('anyone'), {}, { kind: 'none' }],
    ['basic with an empty password', basic('anyone:'), {}, { kind: 'none' }],
    ['basic that is no base64', { Authorization: 'Basic ???' }, {}, { kind: 'none' }],
    ['another scheme', { Authorization: 'Digest a' }, {}, { kind: 'none' }],
    ['a parameter that is no text', {}, { private_token: ['a'] }, { kind: 'none' }],
    [
      'an endless one is cut',
      { 'PRIVATE-TOKEN': 'x'.repeat(9999) },
      {},
      token('x'.repeat(4096), 'private-token'),
    ],
  ])('%s', (_, headers, parameters, expected) => {
    expect(credentialOf(new Headers(headers), parameters)).toEqual(expected);
  });

  test.each<[string, Record<string, string>, Record<string, unknown>, unknown]>([
    ['header', { 'JOB-TOKEN': 'a' }, {}, token('a', 'job-token')],
    ['parameter', {}, { job_token: 'a' }, token('a', 'job-token')],
    ['basic with the name of jobs', basic('gitlab-ci-token:a'), {}, token('a', 'job-token')],
    ['basic with another name', basic('anyone:a'), {}, undefined],
    ['header of a user', { 'PRIVATE-TOKEN': 'a' }, {}, undefined],
  ])('of a job: %s', (_, headers, parameters, expected) => {
    expect(jobCredentialOf(new Headers(headers), parameters)).toEqual(expected);
  });

  test.each<[string, Record<string, string>, unknown]>([
    ['header', { 'Deploy-Token': 'a' }, token('a', 'deploy-token')],
    ['basic with any name', basic('anyone:gldt-a'), token('gldt-a', 'deploy-token')],
    ['basic with a token of a user', basic('anyone:glpat-a'), undefined],
    ['header of a user', { 'PRIVATE-TOKEN': 'gldt-a' }, undefined],
  ])('deploy token: %s', (_, headers, expected) => {
    expect(deployCredentialOf(new Headers(headers))).toEqual(expected);
  });

  test('basic: what was put in comes out', () => {
    const word = fc.string({ unit: 'grapheme', maxLength: 200 });
    fc.assert(
      fc.property(word, word, (username, password) => {
        const found = credentialOf(new Headers(basic(`${username.replaceAll(':', '')}:${password}`)));
        const wanted = password.trim();
        expect(found).toEqual(
          wanted === ''
            ? { kind: 'none' }
            : { ...token(wanted, 'basic'), username: username.replaceAll(':', '').slice(0, 255) },
        );
      }),
    );
  });

  test('sudo', () => {
    expect(sudoOf(new Headers({ Sudo: ' dev ' }), { sudo: 'other' })).toBe('dev');
    expect(sudoOf(new Headers(), { sudo: 7 })).toBe('7');
    expect(sudoOf(new Headers(), { sudo: '' })).toBeUndefined();
  });
});
