import { tests } from 'commonmark-spec';
import { expect, test } from 'vitest';
import { parser } from '../../../lib/domain/markdown/parser.ts';

/** Where the parser answers otherwise than CommonMark's examples: in white space, or because of GitHub's extensions. */
const OTHERWISE: Readonly<Record<number, string>> = {
  218: '<p><a href="/url">foo</a></p>\n<blockquote></blockquote>\n',
  239: '<blockquote></blockquote>\n',
  240: '<blockquote></blockquote>\n',
  // Autolinks of GitHub need no angle brackets.
  602: '<p>&lt;<a href="https://foo.bar/baz">https://foo.bar/baz</a> bim&gt;</p>\n',
  608: '<p>&lt; <a href="https://foo.bar">https://foo.bar</a> &gt;</p>\n',
  611: '<p><a href="https://example.com">https://example.com</a></p>\n',
  612: '<p><a href="mailto:foo@bar.example.com">foo@bar.example.com</a></p>\n',
};

const withTabs = (text: string) => text.replaceAll('→', '\t');
/** `<br />` and `<br>` are the same. */
const withoutSlashes = (html: string) => html.replace(/<(br|hr|img)([^>]*?) ?\/?>/g, '<$1$2>');

test('the specification has its 652 examples', () => {
  expect(tests).toHaveLength(652);
});

test.each(tests)('CommonMark 0.31, example $number ($section)', ({ markdown, html, number }) => {
  expect(withoutSlashes(parser.render(withTabs(markdown), {}))).toBe(
    withoutSlashes(OTHERWISE[number] ?? withTabs(html)),
  );
});
