//! Lists, page by page (`cache` section 10, `cache:RE-4` to `RE-13`).

use crate::informer::list_watch::{ListOptions, Page, SourceError, SourceKind};
use crate::runtime::Ambient;
use crate::store::{Described, Handle};

use super::machine::{After, Reflector, Stage};
use super::want::{Delivery, ReflectorError, Want};

/// A list whose pages are coming in (`cache:LW-8` to `LW-10`).
#[derive(Clone, Debug)]
pub(super) struct Listing<O> {
    /// The options of the first page.
    asked: ListOptions,
    /// The token of the page that was asked for.
    begins: String,
    pages: u32,
    items: Vec<O>,
    version: String,
    /// The pages expired, and the whole list was asked for in one page.
    in_one: bool,
}

impl<O: Handle + Described> Reflector<O> {
    pub(super) fn list(&mut self) -> Want<O> {
        let asked = self.position.list(&self.config);
        self.ask(
            Listing {
                asked: asked.clone(),
                begins: String::new(),
                pages: 0,
                items: Vec::new(),
                version: String::new(),
                in_one: false,
            },
            asked,
        )
    }

    fn ask(&mut self, listing: Listing<O>, options: ListOptions) -> Want<O> {
        self.stage = Stage::Listing(listing);
        Want::List(options)
    }

    pub(super) fn page(
        &mut self,
        mut listing: Listing<O>,
        page: Page<O>,
        ambient: &dyn Ambient,
    ) -> Want<O> {
        listing.pages += 1;
        if listing.pages == 1 || listing.in_one {
            listing.version = page.resource_version;
        }
        listing.items.extend(page.items);
        if !page.continue_token.is_empty() && !listing.in_one {
            if page.continue_token == listing.begins {
                // The page names itself as the next page: the list would never end.
                let error = SourceError::new(SourceKind::Other, "a page is followed by itself");
                return self.pause(After::Begin, Some(ReflectorError::List(error)), None, ambient);
            }
            listing.begins.clone_from(&page.continue_token);
            let options = ListOptions {
                limit: listing.asked.limit,
                continue_token: page.continue_token,
                ..ListOptions::default()
            };
            return self.ask(listing, options);
        }
        if listing.asked.resource_version == "0" && (listing.pages > 1 || listing.in_one) {
            self.position.paginated = true;
        }
        self.position.unavailable = false;
        self.stage = Stage::TakingList(listing.version.clone());
        Want::Deliver(Delivery::Replace(listing.items, listing.version))
    }

    pub(super) fn no_page(
        &mut self,
        mut listing: Listing<O>,
        error: SourceError,
        ambient: &dyn Ambient,
    ) -> Want<O> {
        // A version that the server does not understand is as useless as one that it has forgotten.
        let useless = match error.kind() {
            SourceKind::Expired | SourceKind::TooLarge => true,
            SourceKind::Invalid => listing.pages == 0,
            _ => false,
        };
        if error.kind() == SourceKind::Oversized {
            self.position.was_oversized(&self.config);
        }
        let is_small = self.position.pages.is_none();
        if error.kind() == SourceKind::Expired && listing.pages > 0 && !listing.in_one && is_small {
            // The version of the pages is gone, so ask once for all objects in one page.
            listing.in_one = true;
            listing.items = Vec::new();
            let options = ListOptions { limit: 0, ..listing.asked.clone() };
            return self.ask(listing, options);
        }
        if useless && !self.position.unavailable {
            self.position.unavailable = true;
            return self.list();
        }
        let after = error.retry_after();
        self.pause(After::Begin, Some(ReflectorError::List(error)), after, ambient)
    }
}
