/** Settings of wikis. */
export const wikis = {
  /** Bytes of a page */
  wiki_page_max_content_bytes: 52_428_800,
};
