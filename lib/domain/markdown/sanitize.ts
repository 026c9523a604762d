/** The allow-list of HTML: what else a text contains is left out, or shown as text. */
import sanitizeHtml from 'sanitize-html';

/** Deeper elements are left out. */
const MAX_DEPTH = 100;

const TAGS = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'div', 'br', 'hr', 'blockquote', 'pre', 'code'],
  ...['ul', 'ol', 'li', 'dl', 'dt', 'dd', 'table', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'caption'],
  ...['a', 'img', 'b', 'i', 'strong', 'em', 'tt', 'ins', 'del', 's', 'strike', 'sup', 'sub', 'kbd', 'samp'],
  ...['var', 'q', 'ruby', 'rt', 'rp', 'details', 'summary', 'figure', 'figcaption', 'abbr', 'bdo', 'cite'],
  ...['dfn', 'mark', 'small', 'span', 'time', 'wbr', 'input', 'section'],
];

const FOOTNOTE = /^fn(?:ref)?\d+(?::\d+)?$/;

const OPTIONS: sanitizeHtml.IOptions = {
  allowedTags: TAGS,
  allowedAttributes: {
    a: ['href', 'title', 'id', 'rel', 'target'],
    img: ['src', 'alt', 'title', 'width', 'height'],
    input: ['type', 'checked', 'disabled'],
    ol: ['start'],
    li: ['id'],
    th: ['align', 'colspan', 'rowspan'],
    td: ['align', 'colspan', 'rowspan'],
    details: ['open'],
    time: ['datetime'],
    abbr: ['title'],
    bdo: ['dir'],
  },
  allowedClasses: {
    code: ['language-*'],
    ul: ['task-list'],
    ol: ['task-list', 'footnotes-list'],
    li: ['task-list-item', 'footnote-item'],
    input: ['task-list-item-checkbox'],
    section: ['footnotes'],
    sup: ['footnote-ref'],
    a: ['footnote-backref'],
  },
  allowedSchemes: ['http', 'https', 'mailto', 'ftp', 'irc', 'ircs', 'xmpp', 'tel', 'git', 'ssh'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  // A URL without a scheme would belong to whatever scheme shows the page.
  allowProtocolRelative: false,
  // Drops what is inside, too.
  nonTextTags: ['script', 'style', 'textarea', 'option', 'noscript', 'title', 'xmp', 'iframe', 'noembed'],
  disallowedTagsMode: 'discard',
  nestingLimit: MAX_DEPTH,
  parseStyleAttributes: false,
};

/** The page a link leads to learns nothing of this one, and search engines do not follow. */
const FOREIGN = { rel: 'nofollow noreferrer noopener', target: '_blank' };

/** Links to uploaded files are written without the project they belong to. */
const UPLOAD = /^\/uploads\/[0-9a-f]{32}\//;

/**
 * Returns HTML that runs no script, loads images only, and has no part in forms, styles or other pages' elements.
 * @param baseUrl public base URL of the instance: links elsewhere open another page
 * @param projectUrl web URL of the project that links to uploaded files are about
 */
export function sanitized(
  html: string,
  { baseUrl, projectUrl = '' }: { readonly baseUrl: string; readonly projectUrl?: string },
): string {
  const complete = (url: string | undefined) =>
    url === undefined || !UPLOAD.test(url) ? url : `${projectUrl}${url}`;
  const foreign = (href: string | undefined) =>
    href !== undefined && /^[a-z][\w+.-]*:/i.test(href) && !href.startsWith(`${baseUrl}/`);
  return sanitizeHtml(html, {
    ...OPTIONS,
    transformTags: {
      a: (tagName, { href, id, title, class: names }) =>
        element(tagName, {
          href: complete(href),
          title,
          id: footnote(id),
          class: names,
          ...(foreign(href) ? FOREIGN : {}),
        }),
      li: (tagName, { id, class: names }) => element(tagName, { id: footnote(id), class: names }),
      img: (tagName, { src, ...attributes }) => element(tagName, { src: complete(src), ...attributes }),
      input: (tagName, { checked }) =>
        element(tagName, {
          type: 'checkbox',
          class: 'task-list-item-checkbox',
          checked: checked === undefined ? undefined : '',
          disabled: '',
        }),
    },
  });
}

/** Other ids could take the place of those of the page around. */
const footnote = (id: string | undefined) => (id !== undefined && FOOTNOTE.test(id) ? id : undefined);

const element = (tagName: string, attributes: Readonly<Record<string, string | undefined>>) => ({
  tagName,
  attribs: Object.fromEntries(
    Object.entries(attributes).filter((each): each is [string, string] => each[1] !== undefined),
  ),
});
