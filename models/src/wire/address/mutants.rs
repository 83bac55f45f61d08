//! The bugs: one changed line each, in the sequential object.

use super::mistake::Mistake::{self, *};
use super::{Address, Spec};
use crate::trial::{MachineOf, Mutant, mutants};

/// A builder with a mistake.
fn mistaken(mistake: Mistake) -> MachineOf<Address> {
    Box::new(Spec::with(mistake, 0, "GET"))
}

pub(super) fn all() -> Vec<Mutant<Address>> {
    [of_setters(), of_paths(), of_parameters(), of_templates(), of_sending()].concat()
}

fn of_setters() -> Vec<Mutant<Address>> {
    mutants! { mistaken:
        Seeded "last_mistake_counts" from "election:RQ-9":
            (LastMistakeCounts) breaks ["first_mistake_is_told"];
        Seeded "tells_the_resource" from "museum R20":
            (TellsTheResource) breaks ["first_mistake_is_told"];
        Seeded "second_counts" from "election:RQ-9":
            (SecondCounts) breaks ["first_mistake_is_told"];
        Seeded "empty_was_not_set" from "election:RQ-9":
            (EmptyWasNotSet) breaks ["first_mistake_is_told"];
        Seeded "empty_names" from "election:RQ-9":
            (EmptyNames) breaks ["first_mistake_is_told"];
        Seeded "one_complaint" from "election:RQ-10":
            (OneComplaint) breaks ["first_mistake_is_told"];
        Seeded "dots_are_segments" from "election:RINV-13":
            (DotsAreSegments) breaks ["parts_stay_segments"];
        Seeded "slashes_pass" from "election:RINV-13":
            (SlashesPass) breaks ["parts_stay_segments"];
        Seeded "escapes_pass" from "election:RQ-10":
            (EscapesPass) breaks ["first_mistake_is_told"];
        Seeded "sub_resource_passes" from "election:RQ-10":
            (SubResourcePasses) breaks ["parts_stay_segments"];
        Seeded "all_are_scoped" from "election:RQ-9":
            (AllAreScoped) breaks ["paths_are_right"];
    }
}

fn of_paths() -> Vec<Mutant<Address>> {
    mutants! { mistaken:
        Seeded "keeps_case" from "election:RQ-21":
            (KeepsCase) breaks ["paths_are_right"];
        Seeded "name_comes_last" from "election:RQ-21":
            (NameComesLast) breaks ["paths_are_right"];
        Seeded "suffix_comes_first" from "election:RQ-21":
            (SuffixComesFirst) breaks ["paths_are_right"];
        Seeded "loses_the_slash" from "election:RQ-11":
            (LosesTheSlash) breaks ["paths_are_right"];
        Seeded "keeps_the_slash" from "election:RQ-21":
            (KeepsTheSlash) breaks ["paths_are_right"];
        Seeded "forgets_the_base" from "election:RQ-12":
            (ForgetsTheBase) breaks ["paths_are_right"];
        Seeded "prefix_is_replaced" from "election:RQ-9":
            (PrefixIsReplaced) breaks ["paths_are_right"];
        Seeded "suffix_is_replaced" from "election:RQ-9":
            (SuffixIsReplaced) breaks ["paths_are_right"];
        Seeded "no_climbing" from "election:RQ-20":
            (NoClimbing) breaks ["paths_are_right"];
        Seeded "dots_stay" from "election:RQ-20":
            (DotsStay) breaks ["paths_are_right"];
        Seeded "path_is_raw" from "election:RQ-25":
            (PathIsRaw) breaks ["paths_are_right"];
        Seeded "colons_are_escaped" from "election:RQ-25":
            (ColonsAreEscaped) breaks ["paths_are_right"];
    }
}

fn of_parameters() -> Vec<Mutant<Address>> {
    mutants! { mistaken:
        Seeded "uri_adds" from "election:RQ-12":
            (UriAdds) breaks ["parameters_are_right"];
        Seeded "unsorted" from "election:RQ-23":
            (Unsorted) breaks ["parameters_are_right"];
        Seeded "values_are_sorted" from "election:RQ-23":
            (ValuesAreSorted) breaks ["parameters_are_right"];
        Seeded "last_value_counts" from "election:RQ-23":
            (LastValueCounts) breaks ["parameters_are_right"];
        Seeded "timeout_is_added" from "election:RQ-23":
            (TimeoutIsAdded) breaks ["parameters_are_right"];
        Seeded "parameter_counts" from "election:RQ-23":
            (ParameterCounts) breaks ["parameters_are_right"];
        Seeded "negative_is_none" from "election:RQ-24":
            (NegativeIsNone) breaks ["parameters_are_right"];
        Seeded "seconds_alone" from "election:RQ-24":
            (SecondsAlone) breaks ["parameters_are_right"];
        Seeded "space_is_escaped" from "election:RQ-23":
            (SpaceIsEscaped) breaks ["parameters_are_right"];
    }
}

fn of_templates() -> Vec<Mutant<Address>> {
    mutants! { mistaken:
        Seeded "base_is_counted" from "museum R18":
            (BaseIsCounted) breaks ["templates_name_nobody"];
        Seeded "short_is_a_prefix" from "museum R18":
            (ShortIsAPrefix) breaks ["templates_name_nobody"];
        Seeded "base_is_lost" from "election:RQ-95":
            (BaseIsLost) breaks ["templates_name_nobody"];
        Seeded "name_stays" from "election:RQ-95":
            (NameStays) breaks ["templates_name_nobody"];
        Seeded "namespace_stays" from "election:RQ-95":
            (NamespaceStays) breaks ["templates_name_nobody"];
        Seeded "three_is_an_object" from "election:RQ-95":
            (ThreeIsAnObject) breaks ["templates_name_nobody"];
        Seeded "three_is_none" from "election:RQ-95":
            (ThreeIsNone) breaks ["templates_name_nobody"];
        Seeded "status_is_a_name" from "election:RQ-95":
            (StatusIsAName) breaks ["templates_name_nobody"];
        Seeded "values_stay" from "election:RQ-95":
            (ValuesStay) breaks ["templates_name_nobody"];
        Seeded "unknown_keeps_its_query" from "election:RQ-95":
            (UnknownKeepsItsQuery) breaks ["templates_name_nobody"];
        Seeded "changes_the_request" from "election:RINV-9":
            (ChangesTheRequest) breaks ["telling_changes_nothing"];
    }
}

fn of_sending() -> Vec<Mutant<Address>> {
    mutants! { mistaken:
        Seeded "empty_passes" from "election:RQ-40":
            (EmptyPasses) breaks ["one_object_has_its_namespace"];
        Seeded "empty_never_passes" from "election:RQ-40":
            (EmptyNeverPasses) breaks ["one_object_has_its_namespace"];
        Seeded "patch_is_refused" from "election:RQ-40":
            (PatchIsRefused) breaks ["one_object_has_its_namespace"];
        Equivalent("it is the object that the mutants are made from, without a mistake")
            "said_once_more" from "own: the base of the mutants, without a mistake":
            (Nothing) breaks [];
    }
}
