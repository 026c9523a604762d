/** Settings of the instance as a whole. A name or its comment gives the unit. */
export const instance = {
  /** URL that the home page redirects to */
  home_page_url: null as string | null,
  maintenance_mode: false,
  maintenance_mode_message: null as string | null,
};
