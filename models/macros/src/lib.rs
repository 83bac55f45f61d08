//! The attribute `#[seatrial::test]`. Use it through the crate `seatrial`, whose module `program` explains it.

use proc_macro::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{Error, ItemFn, LitInt, LitStr, Result, parse_macro_input};

/// The arguments of the attribute.
struct Arguments {
    engines: Option<LitStr>,
    budget: LitStr,
    deadlines: u32,
    seed: u64,
}

/// Runs a function of no arguments as a test of threads, on every engine of the build that runs programs, except
/// real threads.
///
/// `engines`, `budget`, `deadlines` and `seed` are its arguments: see `seatrial::program`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let budget = LitStr::new("smoke", proc_macro::Span::call_site().into());
    let mut known = Arguments { engines: None, budget, deadlines: 1, seed: 0 };
    let parser = syn::meta::parser(|meta| known.read(&meta));
    parse_macro_input!(arguments with parser);
    let body = parse_macro_input!(item as ItemFn);
    expanded(&known, body).unwrap_or_else(|error| error.to_compile_error().into())
}

impl Arguments {
    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            "engines" => self.engines = Some(meta.value()?.parse()?),
            "budget" => self.budget = meta.value()?.parse()?,
            "deadlines" => self.deadlines = meta.value()?.parse::<LitInt>()?.base10_parse()?,
            "seed" => self.seed = meta.value()?.parse::<LitInt>()?.base10_parse()?,
            _ => return Err(meta.error("use engines, budget, deadlines or seed")),
        }
        Ok(())
    }
}

fn expanded(known: &Arguments, mut body: ItemFn) -> Result<TokenStream> {
    if let Some(argument) = body.sig.inputs.first() {
        let why = "a #[seatrial::test] has no arguments: it calls seatrial::seam()";
        return Err(Error::new_spanned(argument, why));
    }
    if let Some(generic) = body.sig.generics.params.first() {
        return Err(Error::new_spanned(generic, "a #[seatrial::test] is not generic"));
    }
    let attributes = std::mem::take(&mut body.attrs);
    let Arguments { engines, budget, deadlines, seed } = known;
    let engines = match engines {
        Some(engines) => quote!(::core::option::Option::Some(#engines)),
        None => quote!(::core::option::Option::None),
    };
    let name = &body.sig.ident;
    let run = match body.sig.asyncness {
        Some(_) => quote!(|| ::seatrial::program::run_task(#name())),
        None => quote!(|| ::seatrial::program::ends(#name())),
    };
    let expanded = quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        fn #name() {
            #body
            let test = ::seatrial::program::Test {
                name: stringify!(#name),
                module: module_path!(),
                package: env!("CARGO_PKG_NAME"),
                engines: #engines,
                budget: #budget,
                deadlines: #deadlines,
                seed: #seed,
            };
            ::seatrial::program::run(&test, #run);
        }
    };
    Ok(expanded.into())
}
