import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_MENTIONS, mentionsIn } from '../../../lib/domain/notifications/mentions.ts';
import { atOnce } from '../../../lib/git/work.ts';
import { cpuMs } from '../../harness/cpu-ms.ts';

test.each<[text: string, names: string[]]>([
  ['@ada look', ['ada']],
  ['look, @ada.', ['ada']],
  ['(@ada) @bob-, "@cyd": @dan!', ['ada', 'bob', 'cyd', 'dan']],
  ['@ada @ADA @Ada', ['ada']],
  ['@group/sub and @group/sub/', ['group/sub']],
  ['@ada.b-c_d', ['ada.b-c_d']],
  ['ada@example.com, a+@x, .@y, /@z', []],
  ['@ @- @.', []],
  ['@@ada', []],
  ['`@ada` and ``a ` @bob`` but @cyd', ['cyd']],
  ['an open ` @ada', ['ada']],
  ['> @ada said\n@bob answers', ['bob']],
  ['```\n@ada\n```\n@bob', ['bob']],
  ['~~~~ js\n@ada\n~~~\n@bob\n~~~~\n@cyd', ['cyd']],
  ['```\n@ada', []],
  ['*@ada*, _@bob', ['ada', 'bob']],
  ['日本@ada', ['ada']],
])('%j', (text, names) => {
  expect(atOnce(mentionsIn(text))).toEqual(names.filter((name) => name !== ''));
});

describe('in any text', () => {
  const name = fc.stringMatching(/^[a-z0-9_]([a-z0-9_.-]{0,20}[a-z0-9_])?$/);
  test('a name after an @ between spaces is mentioned', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 20 }), (names) => {
        expect(atOnce(mentionsIn(names.map((each) => ` @${each} `).join(' and ')))).toEqual(names);
      }),
    );
  });
  test('mentioned names follow an @, are unique, and limited in number', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'@ab/.-_`~>\n ()日'), maxLength: 300 }), (text) => {
        const names = atOnce(mentionsIn(text));
        for (const each of names) expect(text).toContain(`@${each}`);
        expect(new Set(names.map((each) => each.toLowerCase())).size).toBe(names.length);
      }),
    );
    const many = Array.from({ length: 1000 }, (_, i) => `@u${i}`).join(' ');
    expect(atOnce(mentionsIn(many))).toHaveLength(MAX_MENTIONS);
  });
  test.each(['@', '`', '@a/', '@a.', '> @', '``` ', '`a', '@a`'])(
    'finding mentions takes linear time: repeated %s',
    (piece) => {
      const text = piece.repeat(Math.ceil(300_000 / piece.length));
      const begun = cpuMs();
      atOnce(mentionsIn(text));
      expect(cpuMs() - begun).toBeLessThan(1000);
    },
  );
});
