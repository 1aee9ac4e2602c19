/** The progress of listing a provider's models. */
export type ModelListing =
  /** Nobody asked the provider: the list holds the models that are known without it. */
  | { readonly state: 'unasked' }
  | { readonly state: 'loading' }
  /** The provider answered; a list that is empty then has nothing to choose from. */
  | { readonly state: 'answered' }
  /** The provider did not answer, or did not list its models. */
  | { readonly state: 'failed'; readonly message: string };
