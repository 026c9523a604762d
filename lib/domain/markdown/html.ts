/** Makes HTML of Markdown. Everything here is synchronous: `render.ts` decides where it runs. */
import { externalNames } from './external-names.ts';
import { parser, type ReferencesToLink } from './parser.ts';
import { referenceAt, referencesOf } from './references.ts';
import { sanitized } from './sanitize.ts';

/** Where a reference leads. */
export interface ReferenceLink {
  readonly href: string;
  /** What the link shows; default: what was written. */
  readonly text?: string;
  readonly title: string;
  /** The second class, as in `gfm gfm-issue`. */
  readonly class: string;
  /** `data-*` attributes without `data-`. */
  readonly data: Readonly<Record<string, string | number>>;
}

export interface HtmlOptions {
  /** Public base URL of the instance, whose URLs are references. */
  readonly baseUrl: string;
  /** Links of references by what was written. Those without one stay text. */
  readonly links?: ReadonlyMap<string, ReferenceLink>;
  /** Web URL of the project, to which `/uploads/...` belongs. */
  readonly projectUrl?: string;
  /** Whether some links are of issues in a tracker elsewhere. */
  readonly external?: boolean;
  /** One line: a title, without paragraphs, lists and other blocks. */
  readonly inline?: boolean;
}

/** References of one text that become links; further ones stay text. */
const MAX_LINKS = 10_000;

/** Returns sanitized HTML of a text in Markdown. The time it takes depends on what was written. */
export function toHtml(
  text: string,
  { baseUrl, links, projectUrl, inline = false, external = false }: HtmlOptions,
): string {
  const anchors: string[] = [];
  const full = () => anchors.length >= MAX_LINKS;
  const anchor = (source: string, link: ReferenceLink): number => anchors.push(anchorOf(source, link)) - 1;
  const env: Partial<ReferencesToLink> =
    links === undefined || links.size === 0
      ? {}
      : {
          linksOf: (written) =>
            placesOf(written, external).flatMap(({ source, index }) => {
              const link = links.get(source);
              return link === undefined || full() ? [] : [{ index, source, link: anchor(source, link) }];
            }),
          linkOf: (url) => {
            const link = referenceAt(url, baseUrl) === undefined ? undefined : links.get(url);
            return link === undefined || full() ? undefined : anchor(url, link);
          },
        };
  const html = inline ? parser.renderInline(text, { ...env }) : parser.render(text, { ...env });
  const safe = sanitized(html, { baseUrl, ...(projectUrl === undefined ? {} : { projectUrl }) });
  return safe.replace(/\0(\d+)\0/g, (_, index: string) => anchors[Number(index)] ?? '');
}

/** Where something is written that may be a link, in order. None is a part of another. */
function placesOf(text: string, external: boolean): { readonly source: string; readonly index: number }[] {
  const places = [...referencesOf(text)].flatMap((each) =>
    each === undefined ? [] : [{ source: each.reference.source, index: each.index }],
  );
  return external ? [...places, ...externalNames(text)].sort((a, b) => a.index - b.index) : places;
}

function anchorOf(
  source: string,
  { href, text = source, title, class: second, data }: ReferenceLink,
): string {
  const attributes = {
    href,
    ...Object.fromEntries(Object.entries(data).map(([name, value]) => [`data-${name}`, String(value)])),
    'data-original': source,
    title,
    class: `gfm gfm-${second}`,
  };
  const written = Object.entries(attributes).map(
    ([name, value]) => ` ${name}="${parser.utils.escapeHtml(value)}"`,
  );
  return `<a${written.join('')}>${parser.utils.escapeHtml(text)}</a>`;
}
