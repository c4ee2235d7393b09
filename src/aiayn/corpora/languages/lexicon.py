"""The words of the demo grammar. Each English word has one German and one French counterpart."""

from __future__ import annotations

from typing import Literal, get_args

from aiayn.corpora.languages.syntax import (
    Adjective,
    Conjunction,
    Frame,
    Gender,
    Noun,
    Preposition,
    Pronoun,
    Time,
    Verb,
)

Kind = Literal["person", "animal", "thing", "place"]


def _noun(kind: Kind, english: str, gender: Gender, german: str, french: str) -> Noun:
    """Forms are singular and plural; a third German form is the weak noun's oblique singular."""
    singular, plural = english.split()
    german_forms = german.split()
    article, french_singular, *french_plural = french.split()
    return Noun(
        kind=kind,
        english=singular,
        english_plural=plural,
        german=german_forms[0],
        german_plural=german_forms[1],
        german_oblique=german_forms[-1] if len(german_forms) == 3 else german_forms[0],
        german_gender=gender,
        french=french_singular,
        french_plural=french_plural[0] if french_plural else french_singular + "s",
        french_feminine=article == "une",
    )


NOUNS = (
    _noun("person", "man men", "m", "Mann Männer", "un homme"),
    _noun("person", "woman women", "f", "Frau Frauen", "une femme"),
    _noun("person", "child children", "n", "Kind Kinder", "un enfant"),
    _noun("person", "girl girls", "n", "Mädchen Mädchen", "une fille"),
    _noun("person", "boy boys", "m", "Junge Jungen Jungen", "un garçon"),
    _noun("person", "teacher teachers", "m", "Lehrer Lehrer", "un professeur"),
    _noun("person", "doctor doctors", "m", "Arzt Ärzte", "un médecin"),
    _noun("person", "student students", "m", "Student Studenten Studenten", "un étudiant"),
    _noun("person", "queen queens", "f", "Königin Königinnen", "une reine"),
    _noun("animal", "dog dogs", "m", "Hund Hunde", "un chien"),
    _noun("animal", "cat cats", "f", "Katze Katzen", "un chat"),
    _noun("animal", "horse horses", "n", "Pferd Pferde", "un cheval chevaux"),
    _noun("animal", "bird birds", "m", "Vogel Vögel", "un oiseau oiseaux"),
    _noun("animal", "cow cows", "f", "Kuh Kühe", "une vache"),
    _noun("thing", "book books", "n", "Buch Bücher", "un livre"),
    _noun("thing", "letter letters", "m", "Brief Briefe", "une lettre"),
    _noun("thing", "apple apples", "m", "Apfel Äpfel", "une pomme"),
    _noun("thing", "flower flowers", "f", "Blume Blumen", "une fleur"),
    _noun("thing", "hat hats", "m", "Hut Hüte", "un chapeau chapeaux"),
    _noun("thing", "picture pictures", "n", "Bild Bilder", "une image"),
    _noun("thing", "bag bags", "f", "Tasche Taschen", "un sac"),
    _noun("thing", "chair chairs", "m", "Stuhl Stühle", "une chaise"),
    _noun("place", "garden gardens", "m", "Garten Gärten", "un jardin"),
    _noun("place", "house houses", "n", "Haus Häuser", "une maison"),
    _noun("place", "school schools", "f", "Schule Schulen", "une école"),
    _noun("place", "church churches", "f", "Kirche Kirchen", "une église"),
    _noun("place", "station stations", "m", "Bahnhof Bahnhöfe", "une gare"),
    _noun("place", "museum museums", "n", "Museum Museen", "un musée"),
    _noun("place", "hotel hotels", "n", "Hotel Hotels", "un hôtel"),
)


def _adjective(kinds: str, english: str, german: str, french: str) -> Adjective:
    """French: masculine, feminine, masculine plural, form before a vowel; the last two if irregular."""
    masculine, feminine, *irregular = french.split()
    plural = irregular[0] if irregular else masculine + "s"
    before_vowel = irregular[1] if len(irregular) > 1 else masculine
    return Adjective(
        kinds=tuple(kinds.split()),
        english=english,
        german=german,
        german_stem=german.removesuffix("e"),
        french=(masculine, feminine, plural, feminine + "s", before_vowel),
    )


BEFORE = (
    _adjective("person animal thing place", "small", "klein", "petit petite"),
    _adjective("person animal thing place", "big", "groß", "grand grande"),
    _adjective("person animal thing place", "old", "alt", "vieux vieille vieux vieil"),
    _adjective("person animal", "young", "jung", "jeune jeune"),
    _adjective("thing place", "new", "neu", "nouveau nouvelle nouveaux nouvel"),
    _adjective("person animal thing place", "beautiful", "schön", "beau belle beaux bel"),
)
AFTER = (
    _adjective("person animal", "tired", "müde", "fatigué fatiguée"),
    _adjective("person animal", "happy", "glücklich", "heureux heureuse heureux"),
    _adjective("person animal", "sick", "krank", "malade malade"),
    _adjective("thing", "red", "rot", "rouge rouge"),
    _adjective("animal thing", "black", "schwarz", "noir noire"),
    _adjective("animal thing", "white", "weiß", "blanc blanche"),
    _adjective("place", "modern", "modern", "moderne moderne"),
)


def _verb(frame: Frame, kinds: str, english: str, german: str, french: str) -> Verb:
    """Forms in the order of `Verb`; "ist" marks sein or être, "+" a separable prefix.

    French: an infinitive in -er says the rest; otherwise first and third person, plural,
    infinitive, participle and the subjunctive's two forms.
    """
    base, third, past = english.split()
    german_be, french_be = german.startswith("ist "), french.startswith("est ")
    german_forms = german.removeprefix("ist ").split()
    prefix = ""
    if "+" in german_forms[2]:
        prefix, german_forms[2] = german_forms[2].split("+")
    forms = french.removeprefix("est ").split()
    if len(forms) == 1:
        stem = forms[0].removesuffix("er")
        forms = [
            stem + "e",
            stem + "e",
            stem + "ent",
            forms[0],
            stem + "é",
            stem + "e",
            stem + "ent",
        ]
    return Verb(
        frame=frame,
        kinds=tuple(kinds.split()),
        english=(base, third, past),
        german=(german_forms[0], german_forms[1], german_forms[2], german_forms[3]),
        german_prefix=prefix,
        german_be=german_be,
        french=(forms[0], forms[1], forms[2], forms[3], forms[4]),
        french_be=french_be,
        french_subjunctive=(forms[5], forms[6]),
    )


ANY = "person animal thing"
VERBS = (
    _verb("alone", "", "sleep sleeps slept", "schlafe schläft schlafen geschlafen",
          "dors dort dorment dormir dormi dorme dorment"),
    _verb("alone", "", "work works worked", "arbeite arbeitet arbeiten gearbeitet", "travailler"),
    _verb("alone", "", "sing sings sang", "singe singt singen gesungen", "chanter"),
    _verb("alone", "", "dance dances danced", "tanze tanzt tanzen getanzt", "danser"),
    _verb("alone", "", "play plays played", "spiele spielt spielen gespielt", "jouer"),
    _verb("alone", "", "stay stays stayed", "ist bleibe bleibt bleiben geblieben", "est rester"),
    _verb("alone", "", "arrive arrives arrived", "ist komme kommt an+kommen angekommen",
          "est arriver"),
    _verb("direct", ANY, "see sees saw", "sehe sieht sehen gesehen",
          "vois voit voient voir vu voie voient"),
    _verb("direct", ANY, "find finds found", "finde findet finden gefunden", "trouver"),
    _verb("direct", ANY, "love loves loved", "liebe liebt lieben geliebt", "aimer"),
    _verb("direct", ANY, "draw draws drew", "zeichne zeichnet zeichnen gezeichnet", "dessiner"),
    _verb("direct", "person animal", "watch watches watched",
          "beobachte beobachtet beobachten beobachtet", "observer"),
    _verb("direct", "person", "invite invites invited", "lade lädt ein+laden eingeladen", "inviter"),
    _verb("direct", "thing", "bring brings brought", "bringe bringt mit+bringen mitgebracht",
          "apporter"),
    _verb("direct", "thing", "carry carries carried", "trage trägt tragen getragen", "porter"),
    _verb("direct", "thing", "forget forgets forgot", "vergesse vergisst vergessen vergessen",
          "oublier"),
    _verb("dative", "person animal", "help helps helped", "helfe hilft helfen geholfen", "aider"),
    _verb("dative", "person", "thank thanks thanked", "danke dankt danken gedankt", "remercier"),
    _verb("with", "person animal", "talk talks talked", "spreche spricht sprechen gesprochen",
          "parler"),
    _verb("recipient", "thing", "give gives gave", "gebe gibt geben gegeben", "donner"),
    _verb("recipient", "thing animal", "show shows showed", "zeige zeigt zeigen gezeigt", "montrer"),
)  # fmt: skip
SAYING = (
    _verb("saying", "", "say says said", "sage sagt sagen gesagt",
          "dis dit disent dire dit dise disent"),
    _verb("saying", "", "think thinks thought", "denke denkt denken gedacht", "penser"),
)  # fmt: skip
COPULA = _verb(
    "property", "", "be is was", "bin ist sein gewesen", "suis est sont être été soit soient"
)

PRONOUNS = (
    Pronoun(True, False, False, "I", "ich", "je"),
    Pronoun(False, False, False, "he", "er", "il"),
    Pronoun(False, False, True, "she", "sie", "elle"),
    Pronoun(False, True, False, "they", "sie", "ils"),
)
PREPOSITIONS = (
    Preposition("in", "in", "dans"),
    Preposition("behind", "hinter", "derrière"),
    Preposition("next to", "neben", "à côté de"),
)
TIMES = (
    Time("present", "(NP (NN today))", "heute", "aujourd'hui"),
    Time("present", "(NP (DT every) (NN day))", "jeden Tag", "tous les jours"),
    Time("present", "(PP (IN in) (NP (DT the) (NN evening)))", "am Abend", "le soir"),
    Time("past", "(NP (NN yesterday))", "gestern", "hier"),
    Time("past", "(NP (DT this) (NN morning))", "heute Morgen", "ce matin"),
    Time("past", "(NP (JJ last) (NN year))", "letztes Jahr", "l'année dernière"),
    Time("future", "(NP (NN tomorrow))", "morgen", "demain"),
    Time("future", "(NP (JJ next) (NN week))", "nächste Woche", "la semaine prochaine"),
)
BECAUSE = Conjunction("because", "weil", "parce que")
WHEN = Conjunction("when", "wenn", "quand")
WHILE = Conjunction("while", "während", "pendant que")
ALTHOUGH = Conjunction("although", "obwohl", "bien que", subjunctive=True)
assert {noun.kind for noun in NOUNS} == set(get_args(Kind))
