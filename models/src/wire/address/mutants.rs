//! The bugs: one changed line each, in the sequential object.

use super::{Address, Spec};
use crate::shared::Mistake;
use crate::trial::{MachineOf, Mutant, mutants};

/// A builder with a mistake.
fn mistaken(&[mistake]: &[Mistake; 1]) -> MachineOf<Address> {
    Box::new(Spec::with(mistake, 0, "GET"))
}

pub(super) fn all() -> Vec<Mutant<Address>> {
    [of_setters(), of_paths(), of_parameters(), of_templates(), of_sending()].concat()
}

fn of_setters() -> Vec<Mutant<Address>> {
    mutants! { mistaken:
        Seeded "last_mistake_counts"
            from "election:RQ-9: the last mistake is reported, not the first"
            breaks ["first_mistake_is_told"];
        Seeded "tells_the_resource"
            from "museum R20: a second subresource is reported as a second resource, with the \
                  resource's value"
            breaks ["first_mistake_is_told"];
        Seeded "second_counts" from "election:RQ-9: a part may be set again"
            breaks ["first_mistake_is_told"];
        Seeded "empty_was_not_set" from "election:RQ-9: an empty namespace counts as not set"
            breaks ["first_mistake_is_told"];
        Seeded "empty_names" from "election:RQ-9: a name may be empty"
            breaks ["first_mistake_is_told"];
        Seeded "one_complaint" from "election:RQ-10: of two complaints, only one is reported"
            breaks ["first_mistake_is_told"];
        Seeded "dots_are_segments" from "election:RINV-13: a segment may consist of dots"
            breaks ["parts_stay_segments"];
        Seeded "slashes_pass" from "election:RINV-13: a segment may contain slashes"
            breaks ["parts_stay_segments"];
        Seeded "escapes_pass" from "election:RQ-10: a segment may contain escapes"
            breaks ["first_mistake_is_told"];
        Seeded "sub_resource_passes" from "election:RQ-10: subresources are not checked"
            breaks ["parts_stay_segments"];
        Seeded "all_are_scoped" from "election:RQ-9: objects of every resource have a namespace"
            breaks ["paths_are_right"];
    }
}

fn of_paths() -> Vec<Mutant<Address>> {
    mutants! { mistaken:
        Seeded "keeps_case" from "election:RQ-21: a resource keeps its upper case"
            breaks ["paths_are_right"];
        Seeded "name_comes_last" from "election:RQ-21: the subresource comes before the name"
            breaks ["paths_are_right"];
        Seeded "suffix_comes_first"
            from "election:RQ-21: the suffix comes directly after the prefix"
            breaks ["paths_are_right"];
        Seeded "loses_the_slash" from "election:RQ-11: an absolute path loses its last slash"
            breaks ["paths_are_right"];
        Seeded "keeps_the_slash"
            from "election:RQ-21: the last slash of an absolute path moves to the end of the \
                  whole path"
            breaks ["paths_are_right"];
        Seeded "forgets_the_base"
            from "election:RQ-12: an absolute path begins at the root, not at the base"
            breaks ["paths_are_right"];
        Seeded "prefix_is_replaced" from "election:RQ-9: a prefix replaces the earlier one"
            breaks ["paths_are_right"];
        Seeded "suffix_is_replaced" from "election:RQ-9: a suffix replaces the earlier one"
            breaks ["paths_are_right"];
        Seeded "no_climbing" from "election:RQ-20: dots at the beginning of a suffix are ignored"
            breaks ["paths_are_right"];
        Seeded "dots_stay"
            from "election:RQ-20: dots stay in the path, and may lead out of the root"
            breaks ["paths_are_right"];
        Seeded "path_is_raw" from "election:RQ-25: too few characters of the path are escaped"
            breaks ["paths_are_right"];
        Seeded "colons_are_escaped" from "election:RQ-25: colons are escaped, too"
            breaks ["paths_are_right"];
    }
}

fn of_parameters() -> Vec<Mutant<Address>> {
    mutants! { mistaken:
        Seeded "uri_adds" from "election:RQ-12: a URI adds its parameters to the earlier ones"
            breaks ["parameters_are_right"];
        Seeded "unsorted" from "election:RQ-23: keys stay in the order in which they came"
            breaks ["parameters_are_right"];
        Seeded "values_are_sorted" from "election:RQ-23: values are sorted as well"
            breaks ["parameters_are_right"];
        Seeded "last_value_counts" from "election:RQ-23: only the last value of a key counts"
            breaks ["parameters_are_right"];
        Seeded "timeout_is_added"
            from "election:RQ-23: a time-out is added to the values of the parameter"
            breaks ["parameters_are_right"];
        Seeded "parameter_counts" from "election:RQ-23: the parameter replaces the time-out"
            breaks ["parameters_are_right"];
        Seeded "negative_is_none" from "election:RQ-24: a negative time-out is ignored"
            breaks ["parameters_are_right"];
        Seeded "seconds_alone" from "election:RQ-24: minutes are written as seconds"
            breaks ["parameters_are_right"];
        Seeded "space_is_escaped" from "election:RQ-23: a space is percent-encoded"
            breaks ["parameters_are_right"];
    }
}

fn of_templates() -> Vec<Mutant<Address>> {
    mutants! { mistaken:
        Seeded "base_is_counted" from "museum R18: the segments of the base are counted, too"
            breaks ["templates_name_nobody"];
        Seeded "short_is_a_prefix" from "museum R18: a path of one segment becomes a `{prefix}`"
            breaks ["templates_name_nobody"];
        Seeded "base_is_lost" from "election:RQ-95: the base is left out"
            breaks ["templates_name_nobody"];
        Seeded "name_stays" from "election:RQ-95: a name within a namespace is not replaced"
            breaks ["templates_name_nobody"];
        Seeded "namespace_stays" from "election:RQ-95: the namespace is not replaced"
            breaks ["templates_name_nobody"];
        Seeded "three_is_an_object" from "election:RQ-95: three segments always mean an object"
            breaks ["templates_name_nobody"];
        Seeded "three_is_none" from "election:RQ-95: three segments never mean an object"
            breaks ["templates_name_nobody"];
        Seeded "status_is_a_name"
            from "election:RQ-95: `status` after a resource is taken for a name"
            breaks ["templates_name_nobody"];
        Seeded "values_stay" from "election:RQ-95: the values of parameters are not replaced"
            breaks ["templates_name_nobody"];
        Seeded "unknown_keeps_its_query"
            from "election:RQ-95: a path of unknown shape keeps its parameters"
            breaks ["templates_name_nobody"];
        Seeded "changes_the_request"
            from "election:RINV-9: the request keeps the placeholders of the template"
            breaks ["telling_changes_nothing"];
    }
}

fn of_sending() -> Vec<Mutant<Address>> {
    mutants! { mistaken:
        Seeded "empty_passes" from "election:RQ-40: an empty namespace is accepted"
            breaks ["one_object_has_its_namespace"];
        Seeded "empty_never_passes"
            from "election:RQ-40: an empty namespace is refused even without a name"
            breaks ["one_object_has_its_namespace"];
        Seeded "patch_is_refused"
            from "election:RQ-40: an empty namespace is refused for a patch of one object, too"
            breaks ["one_object_has_its_namespace"];
    }
}
