/** Settings of attached files. */
export const uploads = {
  /** MB */
  max_attachment_size: 10,
};
