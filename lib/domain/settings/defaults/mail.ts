/** Settings of mail. A name or its comment gives the unit. */
export const mail = {
  html_emails_enabled: true,
  email_author_in_body: false,
  email_additional_text: null as string | null,
};
